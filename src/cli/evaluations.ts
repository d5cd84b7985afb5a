import { messageOf, PlatformError } from '../base/errors.js';
import { EXIT_INTERRUPTED, EXIT_PARTIAL } from '../base/exit-codes.js';
import { drawTable } from '../base/text-table.js';
import type { LoggedEvent, PlatformEvent } from '../evaluation/event.js';
import type { Progress } from '../evaluation/plugin.js';
import type { OwnedHost } from './host.js';

/** Where `mlmodelscope serve` listens unless it is told otherwise. */
export const DEFAULT_SERVER = '127.0.0.1:7080';

type EstimateEvent = Extract<PlatformEvent, { readonly kind: 'estimate' }>;
export type DoneEvent = Extract<PlatformEvent, { readonly kind: 'done' }>;

/** What a follower of an evaluation has in the end. */
export interface Outcome {
  readonly estimates: readonly EstimateEvent[];
  readonly done: DoneEvent;
}

function show(event: PlatformEvent, progress: Progress): void {
  switch (event.kind) {
    case 'waiting':
      progress.note(`waiting: ${event.reason}`);
      break;
    case 'started': {
      const attempt = event.attempt > 1 ? `, attempt ${event.attempt}` : '';
      progress.note(`${event.plugin} ${event.pluginVersion} on the agent at ${event.agent}${attempt}`);
      break;
    }
    case 'planned':
      progress.note(event.summary);
      break;
    case 'measuring':
      progress.step('measuring', event.done, event.total, event.label);
      break;
    case 'note':
      if (event.level === 'warning') progress.warn(`warning: ${event.message}`);
      else progress.note(`note: ${event.message}`);
      break;
    default:
      break;
  }
}

/**
 * Shows an evaluation's events until the last one.
 *
 * @throws PlatformError what the evaluation failed with; `cancelled` where somebody ended it
 */
export async function showToEnd(events: AsyncIterable<LoggedEvent>, progress: Progress): Promise<Outcome> {
  const estimates: EstimateEvent[] = [];
  try {
    for await (const { event } of events) {
      show(event, progress);
      if (event.kind === 'estimate') estimates.push(event);
      if (event.kind === 'done') return { estimates, done: event };
      if (event.kind === 'failed') throw new PlatformError(event.code, event.message);
      if (event.kind === 'cancelled') throw new PlatformError('cancelled', 'the evaluation was cancelled');
    }
  } finally {
    progress.stop();
  }
  throw new PlatformError('internal', 'the server told of no end of the evaluation');
}

function ms(value: number | undefined): string {
  return value === undefined ? '' : value.toPrecision(4);
}

/** Estimates as a table, one row a model. */
export function estimatesTable(estimates: readonly EstimateEvent[]): string {
  const rows = estimates.map(({ model, latencyMs, lowMs, highMs, coverage }) => {
    const interval = lowMs === undefined || highMs === undefined ? '' : `${ms(lowMs)} to ${ms(highMs)}`;
    return [model, ms(latencyMs), interval, `${Math.floor(coverage * 100)} %`];
  });
  const titles = ['model', 'latency (ms)', 'interval (ms)', 'coverage'];
  return `${drawTable({ titles, aligns: ['left', 'right', 'right', 'right'], rows })}\n`;
}

/**
 * A result document.
 *
 * @throws PlatformError `unauthenticated` where the server keeps it from us, `internal` where it is none
 */
export function resultOf({ resultJson }: DoneEvent): unknown {
  if (resultJson === undefined) {
    const problem = 'the server gives results to those only who show its token';
    throw new PlatformError('unauthenticated', `${problem}: give it by --token-file or MLMODELSCOPE_TOKEN`);
  }
  try {
    return JSON.parse(resultJson);
  } catch (cause) {
    const problem = `the result of the evaluation is no JSON (${messageOf(cause)})`;
    throw new PlatformError('internal', `${problem}; report it to the author of its plugin`, { cause });
  }
}

/** A result document as text that people can read as well. @throws PlatformError as {@link resultOf} */
export function resultText(done: DoneEvent): string {
  return `${JSON.stringify(resultOf(done), null, 2)}\n`;
}

/** Prints what an evaluation came to, and says by the exit code whether all of it is there. */
export function printOutcome({ estimates, done }: Outcome, { json, host }: { json: boolean; host: OwnedHost }): void {
  host.print(json ? resultText(done) : estimatesTable(estimates));
  if (done.partial) host.setExitCode(EXIT_PARTIAL);
}

/** Leaves an evaluation to its server, and says how to come back. */
export function leave(id: string, server: string, host: OwnedHost): void {
  const where = server === DEFAULT_SERVER ? '' : ` --server ${server}`;
  host.warn(
    `evaluation ${id} goes on; \`mlmodelscope evaluations follow ${id}${where}\` comes back to it, cancel ends it`,
  );
  host.setExitCode(EXIT_INTERRUPTED);
}
