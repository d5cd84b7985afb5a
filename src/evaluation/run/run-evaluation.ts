import { setImmediate } from 'node:timers/promises';
import type { BenchmarkAgent } from '../../agent/benchmark-agent.js';
import { messageOf, PlatformError } from '../../base/errors.js';
import { schemaProblems } from '../../base/schema-problems.js';
import { cancellationOf, throwIfCancelled } from '../../base/cancellation.js';
import { runOptionsOf } from '../../measurement/system.js';
import type { LoadedEvaluation } from '../../registry/load-evaluation.js';
import type { ResultStore } from '../../store/result-store.js';
import { activeTracing } from '../../tracing/tracing.js';
import type { Evaluation } from '../evaluation.js';
import {
  type EvaluationEvent,
  failure,
  isFinal,
  MAX_RESULT_BYTES,
  type PluginEvent,
  pluginEventOf,
  pluginEventSchema,
} from '../event.js';
import type { AgentEndpoint, Run } from '../link/link.js';
import { loadSubmission, type Submission } from '../submission.js';
import { nameEvaluated, nameFramework } from '../tell-of-trace.js';

/** Settings of all runs of a plugin. */
export interface PluginTools {
  readonly store: ResultStore;
  /** The agent there; the caller closes it. */
  readonly connect: (agent: AgentEndpoint) => BenchmarkAgent;
}

/** Time limit for an evaluation to stop. */
const STOP_LIMIT_MS = 5000;

/** Waits for the plugin, or for a limited time once the plugin was asked to stop. */
async function untilStopped<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let onAbort = (): void => {};
  const stopLimit = new Promise<never>((_resolve, reject) => {
    onAbort = (): void => {
      timer = setTimeout(() => reject(cancellationOf(signal)), STOP_LIMIT_MS);
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

/** Checks a plugin's event, which is untrusted: a plugin is foreign code. */
function checked(name: string, told: EvaluationEvent): PluginEvent {
  const wrong = (problem: string): PlatformError =>
    new PlatformError('internal', `the plugin ${name} sent an invalid event: ${problem}; report it to its author`);
  let event: PluginEvent;
  try {
    event = pluginEventOf(told);
  } catch (error) {
    throw wrong(messageOf(error));
  }
  if (event?.kind === 'done' && event.resultJson.length > MAX_RESULT_BYTES) {
    throw wrong(`a result of ${event.resultJson.length} characters, more than the limit of ${MAX_RESULT_BYTES}`);
  }
  const parsed = pluginEventSchema.safeParse(event);
  if (parsed.success) return parsed.data;
  throw wrong(schemaProblems(parsed.error).join('; '));
}

/** Names what is run on the span of the run. */
async function describeRun({ models, manifest }: LoadedEvaluation, agent: BenchmarkAgent): Promise<void> {
  if (activeTracing() === undefined) return;
  nameEvaluated({ models, batchSizes: [manifest.batch_size] });
  // An agent that does not answer ends the evaluation in its own place.
  const system = await agent.system(runOptionsOf(manifest.threads)).catch(() => undefined);
  if (system !== undefined) nameFramework(system);
}

async function* eventsOf(
  evaluation: Evaluation,
  run: Run<Submission>,
  { store, connect }: PluginTools,
  signal: AbortSignal,
): AsyncGenerator<PluginEvent> {
  const { loaded } = await loadSubmission(run.submission);
  const settings = loaded.settingsOf(evaluation.settings);
  for (const message of loaded.notes) yield pluginEventOf({ kind: 'note', level: 'info', message });
  for (const { name, reason } of loaded.unusable) {
    yield pluginEventOf({ kind: 'note', level: 'warning', message: `${name}: ${reason}` });
  }
  const agent = connect(run.agent);
  await describeRun(loaded, agent);
  const told = evaluation.run({ evaluation: loaded, settings }, { agent, store, signal })[Symbol.asyncIterator]();
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
    const ended = Promise.resolve(told.return?.()).catch(() => undefined);
    // A plugin that hangs does not block the caller.
    if (isAnswering) await untilStopped(ended, AbortSignal.abort()).catch(() => undefined);
    await agent.close();
  }
}

/**
 * Runs an evaluation and yields its events; the last one is how it ended. It never throws, and ends soon after the
 * signal is aborted, whatever the plugin does.
 */
export async function* runEvaluation(
  evaluation: Evaluation,
  run: Run<Submission>,
  tools: PluginTools,
  signal: AbortSignal,
): AsyncGenerator<PluginEvent> {
  try {
    yield* eventsOf(evaluation, run, tools, signal);
  } catch (error) {
    if (signal.aborted) yield { kind: 'cancelled' };
    else yield failure(error instanceof PlatformError ? error.code : 'internal', messageOf(error));
  }
}
