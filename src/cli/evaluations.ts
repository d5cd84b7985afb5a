import { messageOf, PlatformError } from '../base/errors.js';
import { EXIT_INTERRUPTED } from '../base/exit-codes.js';
import type { LoggedEvent, PlatformEvent } from '../evaluation/event.js';
import type { Progress } from '../evaluation/plugin.js';
import { showEvent } from '../evaluation/show-event.js';
import { setSpanFramework } from '../evaluation/span-attributes.js';
import type { OwnedHost } from './host.js';

export const DEFAULT_SERVER = '127.0.0.1:7080';

export type EstimateEvent = Extract<PlatformEvent, { readonly kind: 'estimate' }>;
export type DoneEvent = Extract<PlatformEvent, { readonly kind: 'done' }>;

export interface EvaluationOutcome {
  readonly estimates: readonly EstimateEvent[];
  readonly done: DoneEvent;
}

/** @throws PlatformError the evaluation's failure; `cancelled` where it was cancelled */
export async function showToEnd(events: AsyncIterable<LoggedEvent>, progress: Progress): Promise<EvaluationOutcome> {
  const estimates: EstimateEvent[] = [];
  try {
    for await (const { event } of events) {
      showEvent(event, progress);
      if (event.kind === 'started') {
        const { framework, frameworkVersion } = event;
        if (framework !== undefined && frameworkVersion !== undefined)
          setSpanFramework({ framework, frameworkVersion });
      }
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

/** @throws PlatformError `unauthenticated` where the server withholds it, `internal` where it is invalid */
export function parseResult({ resultJson }: DoneEvent): unknown {
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

/** Leaves an evaluation to its server, and prints how to follow it again. */
export function leave(id: string, server: string, host: OwnedHost): void {
  const where = server === DEFAULT_SERVER ? '' : ` --server ${server}`;
  host.warn(
    `evaluation ${id} continues; \`mlmodelscope evaluations follow ${id}${where}\` follows it again, \`cancel\` ends it`,
  );
  host.setExitCode(EXIT_INTERRUPTED);
}
