import {
  type BenchmarkAgent,
  checkInputs,
  type CommandHost,
  type InputOptions,
  type LoadedModel,
  type LogOption,
  noteTrace,
  prepareOutputs,
  requireLoggable,
  type RunToLog,
  setSpanFramework,
  setSpanModels,
  type SweepInputOptions,
  writeLog,
  writeShown,
  measuringContext,
  setMeasuringExit,
} from '../../../src/plugin-api.js';
import { type Estimated, type Estimation, runEstimations } from '../estimation.js';
import { readAchieved } from '../report/kept-estimates.js';
import { isPartial } from '../report/report.js';
import type { Report } from '../report/report-schema.js';
import { bestAsked, type BestOptions, type PlaceOptions } from './options.js';
import { shownReports } from './shown-report.js';

/**
 * Measures the missing bricks and composes, with progress.
 *
 * @throws PlatformError `usage` for a dimension or an input that none of the models has
 */
export async function runWithProgress(
  estimations: readonly Estimation[],
  agent: BenchmarkAgent,
  options: (InputOptions | SweepInputOptions) & Pick<PlaceOptions, 'store' | 'quiet'> & LogOption,
  host: CommandHost,
): Promise<readonly Estimated[]> {
  // Dimensions of a model that was not read are not known.
  if (estimations.every(({ unusable = [] }) => unusable.length === 0)) {
    checkInputs(
      estimations.flatMap(({ models }) => models),
      options,
    );
  }
  const loaded = estimations.flatMap(({ models }) => models);
  await requireLoggable(options.log, loaded, options.input);
  const store = await host.openStore(options.store);
  const progress = host.progress(options.quiet ?? false);
  const context = measuringContext({ agent, store }, progress, host);
  setSpanModels({
    models: estimations.flatMap(({ models }) => models),
    batchSizes: estimations.map(({ batch }) => batch),
  });
  setSpanFramework(agent.description);
  noteTrace(progress);
  const estimated = await runEstimations(estimations, context).finally(() => progress.stop());
  if (options.log !== undefined && estimated.every(({ result }) => !result.interrupted)) {
    const runs = estimations.map((estimation, index) => runToLog(estimation, estimated[index]?.report));
    const warnings = new Set(estimated.flatMap(({ report }) => report.warnings.map(({ message }) => message)));
    const { signal } = host;
    await writeLog(options.log, { command: 'dlbricks', runs, agent, warnings: [...warnings], store, signal });
  }
  return estimated;
}

function runToLog(estimation: Estimation, report: Report | undefined): RunToLog {
  const achieved = report && readAchieved(report);
  return {
    ...estimation,
    plugin: 'dlbricks',
    runtime: estimation.settings,
    achieved: ({ name }: LoadedModel) => achieved?.get(name),
  };
}

/** Whether a command was interrupted before any model had an estimate, so that a table would have no numbers. */
export function isEmpty(estimated: readonly Estimated[]): boolean {
  return estimated.every(({ report, result }) => {
    return result.interrupted && report.models.every(({ estimate_ms: ms }) => ms === null);
  });
}

/** Sets the exit code of a command that estimated: whether it was interrupted, or its results do not cover all models. */
export function setExitCodeOf(estimated: readonly Estimated[], host: CommandHost): void {
  setMeasuringExit(host, {
    isInterrupted: estimated.some(({ result }) => result.interrupted),
    isPartial: estimated.some(({ report }) => isPartial(report)),
  });
}

/**
 * Measures the missing bricks, composes and reports; shared by `run` and `validate`.
 *
 * @throws PlatformError as {@link runWithProgress}
 */
export async function runAndReport(
  estimations: readonly Estimation[],
  agent: BenchmarkAgent,
  options: PlaceOptions & BestOptions & LogOption & (InputOptions | SweepInputOptions),
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
