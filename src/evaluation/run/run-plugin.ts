import { setImmediate } from 'node:timers/promises';
import { cancellationOf, throwIfCancelled } from '../../base/cancellation.js';
import { describeForeignError, messageOf, PlatformError } from '../../base/errors.js';
import { schemaProblems } from '../../base/schema-problems.js';
import type { Evaluation, EvaluationContext, EvaluationRequest } from '../evaluation.js';
import {
  type EvaluationEvent,
  isFinal,
  MAX_RESULT_BYTES,
  type PluginEvent,
  checkPluginEvent,
  pluginEventSchema,
} from '../event.js';

const STOP_LIMIT_MS = 5000;

/** After the signal has asked foreign code to stop, only for a limited time. */
export async function untilStopped<T>(answer: Promise<T>, signal: AbortSignal, limitMs = STOP_LIMIT_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let onAbort = (): void => {};
  const stopLimit = new Promise<never>((_resolve, reject) => {
    onAbort = (): void => {
      timer = setTimeout(() => reject(cancellationOf(signal)), limitMs);
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([answer, stopLimit]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

/** A plugin is foreign code. */
function checked(name: string, told: EvaluationEvent): PluginEvent {
  const wrong = (problem: string): PlatformError =>
    new PlatformError('internal', `the plugin ${name} sent an invalid event: ${problem}; report it to its author`);
  let event: PluginEvent;
  try {
    event = checkPluginEvent(told);
  } catch (error) {
    throw wrong(messageOf(error));
  }
  if (event?.kind === 'done' && event.resultJson.length > MAX_RESULT_BYTES) {
    throw wrong(`a result of ${event.resultJson.length} characters, more than the limit of ${MAX_RESULT_BYTES}`);
  }
  const parsed = pluginEventSchema.safeParse(event);
  if (!parsed.success) throw wrong(schemaProblems(parsed.error).join('; '));
  const { kind } = parsed.data;
  if (kind === 'failed' || kind === 'cancelled')
    throw wrong(`kind: ${kind} is for the platform to say; throw an error`);
  return parsed.data;
}

/** Other errors than a PlatformError say where in the plugin they happened. */
async function* failingAs(
  evaluation: Evaluation,
  request: EvaluationRequest,
  context: EvaluationContext,
): AsyncGenerator<EvaluationEvent, void, undefined> {
  try {
    yield* evaluation.run(request, context);
  } catch (thrown) {
    if (thrown instanceof PlatformError || context.signal.aborted) throw thrown;
    const problem = `the plugin ${evaluation.name} failed; report this to its author:\n${describeForeignError(thrown)}`;
    throw new PlatformError('internal', problem, { cause: thrown });
  }
}

/**
 * Ends soon after the signal aborts, even if the plugin does not stop.
 *
 * @throws PlatformError as the plugin does, and `internal` for an invalid event or an end without a result
 */
export async function* runPlugin(
  evaluation: Evaluation,
  request: EvaluationRequest,
  context: EvaluationContext,
): AsyncGenerator<PluginEvent> {
  const { signal } = context;
  const told = failingAs(evaluation, request, context);
  let isAnswering = true;
  try {
    for (;;) {
      isAnswering = false;
      const next = await untilStopped(told.next(), signal);
      isAnswering = true;
      if (next.done === true) {
        throw new PlatformError(
          'internal',
          `the plugin ${evaluation.name} ended without a result; report it to its author`,
        );
      }
      const event = checked(evaluation.name, next.value);
      yield event;
      if (isFinal(event)) return;
      // Other work gets its turn between events.
      await setImmediate();
      throwIfCancelled(signal);
    }
  } finally {
    const ended = Promise.resolve(told.return()).catch(() => undefined);
    // A plugin that hangs does not block the caller.
    if (isAnswering) await untilStopped(ended, AbortSignal.abort()).catch(() => undefined);
  }
}
