import { throwIfCancelled } from '../../base/cancellation.js';
import { PlatformError } from '../../base/errors.js';
import type { Prediction } from '../../agent/client/prediction-client.js';

export interface GivenInput<T> {
  readonly id: string;
  /** @throws PlatformError where the input cannot be used; the other inputs are not affected */
  readonly read: () => T | Promise<T>;
}

export interface Calls<T> {
  /** Elements of a batch of the model. */
  readonly batchSize: number;
  readonly bytesOf: (value: T) => number;
  readonly predict: (inputs: readonly { readonly id: string; readonly value: T }[]) => AsyncIterable<Prediction>;
  readonly signal: AbortSignal;
}

/** Rounded up to a multiple of the batch size: the overhead of a call is small compared with so many predictions. */
const CALL_INPUTS = 64;

/** Most bytes of a call with several inputs. The largest picture takes 32 MiB, and the largest message 64 MiB. */
const CALL_BYTES = 24 * 2 ** 20;

type ReadInput<T> = { readonly id: string } & ({ readonly value: T } | { readonly error: PlatformError });

async function readInput<T>({ id, read }: GivenInput<T>): Promise<ReadInput<T>> {
  try {
    return { id, value: await read() };
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    return { id, error };
  }
}

async function* predictTogether<T>(inputs: readonly ReadInput<T>[], { predict }: Calls<T>): AsyncGenerator<Prediction> {
  const usable = inputs.flatMap((input) => ('value' in input ? [{ id: input.id, value: input.value }] : []));
  const answers = usable.length === 0 ? undefined : predict(usable)[Symbol.asyncIterator]();
  try {
    for (const input of inputs) {
      if ('error' in input) {
        const { code, message } = input.error;
        yield { inputId: input.id, outcome: { kind: 'failure', code, message } };
        continue;
      }
      const answer = await answers?.next();
      if (answer === undefined || answer.done === true) {
        throw new PlatformError('internal', `the call ended without an answer for ${input.id}`);
      }
      yield answer.value;
    }
  } finally {
    await answers?.return?.();
  }
}

/** Reads inputs and predicts for them, with many inputs in one call; yields the prediction for each input. */
export async function* predictGiven<T>(given: readonly GivenInput<T>[], calls: Calls<T>): AsyncGenerator<Prediction> {
  const most = calls.batchSize * Math.ceil(CALL_INPUTS / calls.batchSize);
  let together: ReadInput<T>[] = [];
  let bytes = 0;
  for (const input of given) {
    throwIfCancelled(calls.signal);
    const read = await readInput(input);
    const inputBytes = 'value' in read ? calls.bytesOf(read.value) : 0;
    if (together.length >= most || (together.length > 0 && bytes + inputBytes > CALL_BYTES)) {
      yield* predictTogether(together, calls);
      [together, bytes] = [[], 0];
    }
    together.push(read);
    bytes += inputBytes;
  }
  yield* predictTogether(together, calls);
}
