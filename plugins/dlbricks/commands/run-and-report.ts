import {
  type BenchmarkAgent,
  checkInputs,
  type CommandHost,
  type EvaluationEvent,
  EXIT_INTERRUPTED,
  EXIT_PARTIAL,
  type InputOptions,
  setSpanModels,
  setSpanFramework,
  noteTrace,
  prepareOutputs,
  showEvent,
  type SweepInputOptions,
  writeShown,
} from '../../../src/plugin-api.js';
import { type Estimated, type Estimation, runEstimations } from '../estimation.js';
import { isPartial } from '../report/report.js';
import { bestAsked, type BestOptions, type PlaceOptions } from './options.js';
import { shownReports } from './shown-report.js';

export const INTERRUPTED = 'interrupted; everything measured so far is kept, and the same command continues from here';

/**
 * Measures the missing bricks and composes, with progress.
 *
 * @throws PlatformError `usage` for a dimension or an input that none of the models has
 */
export async function runWithProgress(
  estimations: readonly Estimation[],
  agent: BenchmarkAgent,
  options: (InputOptions | SweepInputOptions) & Pick<PlaceOptions, 'store' | 'quiet'>,
  host: CommandHost,
): Promise<readonly Estimated[]> {
  // Dimensions of a model that was not read are not known.
  if (estimations.every(({ unusable = [] }) => unusable.length === 0)) {
    checkInputs(
      estimations.flatMap(({ models }) => models),
      options,
    );
  }
  const store = await host.openStore(options.store);
  const progress = host.progress(options.quiet ?? false);
  const context = {
    agent,
    store,
    signal: host.signal,
    onEvent: (event: EvaluationEvent) => showEvent(event, progress),
  };
  setSpanModels({
    models: estimations.flatMap(({ models }) => models),
    batchSizes: estimations.map(({ batch }) => batch),
  });
  setSpanFramework(agent.description);
  noteTrace(progress);
  return runEstimations(estimations, context).finally(() => progress.stop());
}

/** Whether a command was interrupted before any model had an estimate, so that a table would have no numbers. */
export function isEmpty(estimated: readonly Estimated[]): boolean {
  return estimated.every(({ report, result }) => {
    return result.interrupted && report.models.every(({ estimate_ms: ms }) => ms === null);
  });
}

/** Sets the exit code of a command that estimated: whether it was interrupted, or its results do not cover all models. */
export function setExitCodeOf(estimated: readonly Estimated[], host: CommandHost): void {
  if (estimated.some(({ result }) => result.interrupted)) {
    host.warn(INTERRUPTED);
    host.setExitCode(EXIT_INTERRUPTED);
  } else if (estimated.some(({ report }) => isPartial(report))) {
    host.setExitCode(EXIT_PARTIAL);
  }
}

/**
 * Measures the missing bricks, composes and reports; shared by `run` and `validate`.
 *
 * @throws PlatformError as {@link runWithProgress}
 */
export async function runAndReport(
  estimations: readonly Estimation[],
  agent: BenchmarkAgent,
  options: PlaceOptions & BestOptions & (InputOptions | SweepInputOptions),
  host: CommandHost,
): Promise<readonly Estimated[]> {
  // A mistake is told before anything is measured.
  bestAsked(options);
  const outputs = await prepareOutputs(options);
  const estimated = await runWithProgress(estimations, agent, options, host);
  const quiet = outputs.quiet || isEmpty(estimated);
  await writeShown(shownReports(estimated, options), { ...outputs, quiet }, host);
  setExitCodeOf(estimated, host);
  return estimated;
}
