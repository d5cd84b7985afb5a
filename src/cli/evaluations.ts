import { messageOf, PlatformError } from '../base/errors.js';
import { EXIT_INTERRUPTED, EXIT_PARTIAL } from '../base/exit-codes.js';
import { drawTable } from '../base/text-table.js';
import type { LoggedEvent, PlatformEvent } from '../evaluation/event.js';
import type { Progress } from '../evaluation/plugin.js';
import { showEvent } from '../evaluation/show-event.js';
import type { OwnedHost } from './host.js';

/** Default address of `mlmodelscope serve`. */
export const DEFAULT_SERVER = '127.0.0.1:7080';

type EstimateEvent = Extract<PlatformEvent, { readonly kind: 'estimate' }>;
export type DoneEvent = Extract<PlatformEvent, { readonly kind: 'done' }>;

/** Result of following an evaluation. */
export interface EvaluationOutcome {
  readonly estimates: readonly EstimateEvent[];
  readonly done: DoneEvent;
}

/**
 * Shows an evaluation's events until the last one.
 *
 * @throws PlatformError the evaluation's failure; `cancelled` where it was cancelled
 */
export async function showToEnd(events: AsyncIterable<LoggedEvent>, progress: Progress): Promise<EvaluationOutcome> {
  const estimates: EstimateEvent[] = [];
  try {
    for await (const { event } of events) {
      showEvent(event, progress);
      if (event.kind === 'estimate') estimates.push(event);
      if (event.kind === 'done') return { estimates, done: event };
      if (event.kind === 'failed') throw new PlatformError(event.code, event.message);
      if (event.kind === 'cancelled') throw new PlatformError('cancelled', 'the evaluation was cancelled');
    }
  } finally {
    progress.stop();
  }
  throw new PlatformError('internal', 'the server sent no end of the evaluation');
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
 * @throws PlatformError `unauthenticated` where the server withholds it, `internal` where it is invalid
 */
export function resultOf({ resultJson }: DoneEvent): unknown {
  if (resultJson === undefined) {
    const problem = 'the server gives results only to clients with its token';
    throw new PlatformError('unauthenticated', `${problem}: give it by --token-file or MLMODELSCOPE_TOKEN`);
  }
  try {
    return JSON.parse(resultJson);
  } catch (cause) {
    const problem = `the result of the evaluation is no JSON (${messageOf(cause)})`;
    throw new PlatformError('internal', `${problem}; report it to the author of its plugin`, { cause });
  }
}

/** A result document as indented text. @throws PlatformError as {@link resultOf} */
export function resultText(done: DoneEvent): string {
  return `${JSON.stringify(resultOf(done), null, 2)}\n`;
}

/** Prints the estimates of an evaluation, and sets the exit code where they are partial. */
export function printOutcome(
  { estimates, done }: EvaluationOutcome,
  { json, host }: { json: boolean; host: OwnedHost },
): void {
  host.print(json ? resultText(done) : estimatesTable(estimates));
  if (done.partial) host.setExitCode(EXIT_PARTIAL);
}

/** Leaves an evaluation to its server, and prints how to follow it again. */
export function leave(id: string, server: string, host: OwnedHost): void {
  const where = server === DEFAULT_SERVER ? '' : ` --server ${server}`;
  host.warn(
    `evaluation ${id} continues; \`mlmodelscope evaluations follow ${id}${where}\` follows it again, \`cancel\` ends it`,
  );
  host.setExitCode(EXIT_INTERRUPTED);
}
