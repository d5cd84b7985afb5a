import { EXIT_INTERRUPTED, EXIT_PARTIAL } from '../base/exit-codes.js';
import type { CommandHost, Progress } from '../evaluation/plugin.js';
import { showEvent } from '../evaluation/show-event.js';
import type { Remeasure } from '../measurement/remeasure.js';
import type { MeasuringContext } from '../measuring/measuring.js';

/** What a command measures with; its events are shown as progress. */
export function measuringContext(
  { agent, store }: Pick<MeasuringContext, 'agent' | 'store'>,
  progress: Progress,
  { signal }: Pick<CommandHost, 'signal'>,
): MeasuringContext {
  return { agent, store, signal, onEvent: (event) => showEvent(event, progress) };
}

function interruptedText(remeasure?: Remeasure): string {
  const kept = 'interrupted; everything measured so far is kept';
  return remeasure?.kind === 'all'
    ? `${kept}; the same command measures all of it again, and continues from here without --remeasure all`
    : `${kept}, and the same command continues from here`;
}

export function setMeasuringExit(
  host: CommandHost,
  {
    isPartial,
    isInterrupted = host.signal.aborted,
    remeasure,
    interrupted = interruptedText(remeasure),
  }: {
    readonly isPartial: boolean;
    readonly isInterrupted?: boolean;
    readonly remeasure?: Remeasure | undefined;
    readonly interrupted?: string;
  },
): void {
  if (isInterrupted) {
    host.warn(interrupted);
    host.setExitCode(EXIT_INTERRUPTED);
  } else if (isPartial) host.setExitCode(EXIT_PARTIAL);
}
