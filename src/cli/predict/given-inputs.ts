import type {
  AnsweredPrediction,
  Prediction,
  PredictionClient,
  PredictionInputs,
} from '../../agent/client/prediction-client.js';
import { throwIfCancelled } from '../../base/cancellation.js';
import { PlatformError } from '../../base/errors.js';

export interface OpenedModel {
  readonly id: string;
  readonly client: PredictionClient;
  readonly batchSize: number;
  readonly signal: AbortSignal;
  readonly onAnswer: (answer: AnsweredPrediction) => void;
}

interface Identified {
  readonly id: string;
}

export interface GivenInput<Item extends Identified> extends Identified {
  /** As the agent gets it. @throws PlatformError where it cannot be used; the other inputs are not affected */
  readonly read: () => Item | Promise<Item>;
}

/** How items of one kind are sent. */
export interface Sending<Item extends Identified> {
  readonly bytesOf: (item: Item) => number;
  readonly toInputs: (items: Item[]) => PredictionInputs;
}

/** Rounded up to a multiple of the batch size: the overhead of a call is small compared with so many predictions. */
const CALL_INPUTS = 64;

/** Most bytes of a call with several inputs. The largest picture takes 32 MiB, and the largest message 64 MiB. */
const CALL_BYTES = 24 * 2 ** 20;

/** Or the answer for an input that cannot be used. */
type ReadInput<Item extends Identified> = { readonly item: Item } | Prediction;

async function readInput<Item extends Identified>({ id, read }: GivenInput<Item>): Promise<ReadInput<Item>> {
  try {
    return { item: await read() };
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    return { inputId: id, outcome: { kind: 'failure', code: error.code, message: error.message } };
  }
}

export async function* streamAnswers(
  { id, client, signal, onAnswer }: OpenedModel,
  inputs: PredictionInputs,
): AsyncGenerator<Prediction> {
  for await (const answer of client.predictEach(id, inputs, signal)) {
    onAnswer(answer);
    yield answer;
  }
}

async function* predictTogether<Item extends Identified>(
  inputs: readonly ReadInput<Item>[],
  { toInputs }: Sending<Item>,
  model: OpenedModel,
): AsyncGenerator<Prediction> {
  const items = inputs.flatMap((input) => ('item' in input ? [input.item] : []));
  const answers = items.length === 0 ? undefined : streamAnswers(model, toInputs(items));
  try {
    for (const input of inputs) {
      if (!('item' in input)) {
        yield input;
        continue;
      }
      const answer = await answers?.next();
      if (answer === undefined || answer.done === true) {
        throw new PlatformError('internal', `the call ended without an answer for ${input.item.id}`);
      }
      yield answer.value;
    }
  } finally {
    await answers?.return(undefined);
  }
}

/** Reads inputs and predicts for them, with many inputs in one call; yields the prediction for each input. */
export async function* predictGiven<Item extends Identified>(
  given: readonly GivenInput<Item>[],
  sending: Sending<Item>,
  model: OpenedModel,
): AsyncGenerator<Prediction> {
  const most = model.batchSize * Math.ceil(CALL_INPUTS / model.batchSize);
  let together: ReadInput<Item>[] = [];
  let bytes = 0;
  for (const input of given) {
    throwIfCancelled(model.signal);
    const read = await readInput(input);
    const inputBytes = 'item' in read ? sending.bytesOf(read.item) : 0;
    if (together.length >= most || (together.length > 0 && bytes + inputBytes > CALL_BYTES)) {
      yield* predictTogether(together, sending, model);
      [together, bytes] = [[], 0];
    }
    together.push(read);
    bytes += inputBytes;
  }
  yield* predictTogether(together, sending, model);
}
