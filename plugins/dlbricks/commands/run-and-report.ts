import {
  assertEnoughCores,
  type BenchmarkAgent,
  checkInputs,
  type CommandHost,
  type InputOptions,
  type LogOption,
  noteTrace,
  prepareOutputs,
  requireLoggable,
  type RunToLog,
  setSpanFramework,
  type Shown,
  setSpanModels,
  type SweepInputOptions,
  writeLog,
  writeShown,
  measuringContext,
  setMeasuringExit,
} from '../../../src/plugin-api.js';
import { type Estimated, runEstimations } from '../estimation.js';
import { readAchieved } from '../report/kept-estimates.js';
import { isPartial } from '../report/report.js';
import type { EstimateRequest } from '../system-run.js';
import { bestAsked, type BestOptions, type PlaceOptions } from './options.js';
import { shownReports } from './shown-report.js';

/** @throws PlatformError `usage` for a dimension or an input that none of the models has */
async function runWithProgress(
  estimations: readonly EstimateRequest[],
  agent: BenchmarkAgent,
  options: (InputOptions | SweepInputOptions) & Pick<PlaceOptions, 'store' | 'quiet'> & LogOption,
  host: CommandHost,
): Promise<readonly Estimated[]> {
  const loaded = estimations.flatMap(({ models }) => models);
  // Dimensions of a model that was not read are not known.
  if (estimations.every(({ unusable = [] }) => unusable.length === 0)) checkInputs(loaded, options);
  for (const { runOptions } of estimations) assertEnoughCores(runOptions, agent.description);
  await requireLoggable(options.log, loaded, options.input);
  const store = await host.openStore(options.store);
  const progress = host.progress(options.quiet ?? false);
  const context = measuringContext({ agent, store }, progress, host);
  setSpanModels({ models: loaded, batchSizes: estimations.map(({ batch }) => batch) });
  setSpanFramework(agent.description);
  noteTrace(progress);
  const estimated = await runEstimations(estimations, context).finally(() => progress.stop());
  if (options.log !== undefined && estimated.every(({ result }) => !result.interrupted)) {
    const runs = estimations.map((estimation, index): RunToLog => {
      const report = estimated[index]?.report;
      const achieved = report && readAchieved(report);
      const { settings: runtime, runOptions } = estimation;
      const achievedBy: RunToLog['achieved'] = ({ name }) => achieved?.get(name);
      return { ...estimation, plugin: 'dlbricks', threads: runOptions.threads, runtime, achieved: achievedBy };
    });
    const warnings = new Set(estimated.flatMap(({ report }) => report.warnings.map(({ message }) => message)));
    const { signal } = host;
    await writeLog(options.log, { command: 'dlbricks', runs, agent, warnings: [...warnings], store, signal });
  }
  return estimated;
}

/** A table would have no numbers. */
function isEmpty(estimated: readonly Estimated[]): boolean {
  return estimated.every(({ report, result }) => {
    return result.interrupted && report.models.every(({ estimate_ms: ms }) => ms === null);
  });
}

/** @param show what the estimates are shown as */
export async function runAndReport(
  estimations: readonly EstimateRequest[],
  agent: BenchmarkAgent,
  options: PlaceOptions & BestOptions & LogOption & (InputOptions | SweepInputOptions),
  host: CommandHost,
  show: (estimated: readonly Estimated[]) => Shown = (estimated) => shownReports(estimated, options),
): Promise<readonly Estimated[]> {
  bestAsked(options);
  const outputs = await prepareOutputs(options);
  const estimated = await runWithProgress(estimations, agent, options, host);
  const quiet = outputs.quiet || isEmpty(estimated);
  await writeShown(show(estimated), { ...outputs, quiet }, host);
  setMeasuringExit(host, {
    isInterrupted: estimated.some(({ result }) => result.interrupted),
    isPartial: estimated.some(({ report }) => isPartial(report)),
    remeasure: estimations[0]?.remeasure,
  });
  return estimated;
}
