import {
  type BenchmarkAgent,
  type CommandHost,
  type EvaluationEvent,
  EXIT_INTERRUPTED,
  EXIT_PARTIAL,
  showEvent,
} from '../../../src/plugin-api.js';
import { type Estimation, runEstimation } from '../estimation.js';
import { prepareOutputs, writeShown } from './exports.js';
import type { PlaceOptions } from './options.js';
import { shownReport } from './shown-report.js';

/** A command starts with its process. */
const START_MS = 0;

export const INTERRUPTED = 'interrupted; everything measured so far is kept, and the same command continues from here';

/** Measures the missing bricks, composes and reports; shared by `run` and `validate`. */
export async function runAndReport(
  estimation: Omit<Estimation, 'startMs'>,
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
  const { result, report } = await runEstimation({ ...estimation, startMs: START_MS }, context).finally(() => {
    progress.stop();
  });
  await writeShown(shownReport(report, result), outputs, host);
  if (result.interrupted) {
    host.warn(INTERRUPTED);
    host.setExitCode(EXIT_INTERRUPTED);
  } else if (report.models.some(({ missing }) => missing.length > 0)) host.setExitCode(EXIT_PARTIAL);
}
