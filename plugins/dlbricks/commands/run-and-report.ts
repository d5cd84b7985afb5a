import {
  type BenchmarkAgent,
  type CommandHost,
  type EvaluationEvent,
  EXIT_INTERRUPTED,
  EXIT_PARTIAL,
  prepareOutputs,
  showEvent,
  writeShown,
} from '../../../src/plugin-api.js';
import { type Estimation, runEstimations } from '../estimation.js';
import type { PlaceOptions } from './options.js';
import { shownReports } from './shown-report.js';

/** A command starts with its process. */
const START_MS = 0;

export const INTERRUPTED = 'interrupted; everything measured so far is kept, and the same command continues from here';

/** Measures the missing bricks, composes and reports; shared by `run` and `validate`. */
export async function runAndReport(
  estimations: readonly Omit<Estimation, 'startMs'>[],
  agent: BenchmarkAgent,
  options: PlaceOptions,
  host: CommandHost,
): Promise<void> {
  const outputs = await prepareOutputs(options);
  const store = await host.openStore(options.store);
  const progress = host.progress(outputs.quiet);
  const context = {
    agent,
    store,
    signal: host.signal,
    onEvent: (event: EvaluationEvent) => showEvent(event, progress),
  };
  const started = estimations.map((estimation) => ({ ...estimation, startMs: START_MS }));
  const estimated = await runEstimations(started, context).finally(() => progress.stop());
  await writeShown(shownReports(estimated, options), outputs, host);
  if (estimated.some(({ result }) => result.interrupted)) {
    host.warn(INTERRUPTED);
    host.setExitCode(EXIT_INTERRUPTED);
  } else if (estimated.some(({ report }) => report.models.some(({ missing }) => missing.length > 0))) {
    host.setExitCode(EXIT_PARTIAL);
  }
}
