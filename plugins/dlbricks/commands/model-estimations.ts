import {
  askedProtocol,
  type BenchmarkAgent,
  COMMAND_DEFAULTS,
  type CommandHost,
  DEFAULT_LIMITS,
  type LoadedBatch,
  loadBatches,
  runsOn,
  type UnusableModel,
} from '../../../src/plugin-api.js';
import { listCells } from '../cells.js';
import { type Estimation, toEstimation } from '../estimation.js';
import { type SweepMeasuringOptions, parseSettings } from './options.js';

/** @throws PlatformError where no model can be used, unless `canBeNone`: where there are evaluations to estimate */
export async function loadModelEstimations(
  references: readonly string[],
  options: SweepMeasuringOptions,
  agent: BenchmarkAgent,
  host: CommandHost,
  { measureEndToEnd, canBeNone = false }: { readonly measureEndToEnd: boolean; readonly canBeNone?: boolean },
): Promise<readonly Estimation[]> {
  const unusable: (UnusableModel & Pick<LoadedBatch, 'batch' | 'sizes'>)[] = [];
  const loaded = await loadBatches(
    {
      references,
      batches: options.batch ?? [COMMAND_DEFAULTS.batch],
      inputs: options,
      quiet: options.quiet ?? false,
      canBeNone,
      runsOn: runsOn(agent, options),
      onUnusable: (model, { batch, sizes }) => {
        host.warn(`warning: ${model.name}: ${model.reason}`);
        unusable.push({ ...model, batch, sizes });
      },
    },
    host,
  );
  return loaded.flatMap(({ batch, sizes, models }) => {
    const settings = { ...parseSettings(options), measure_end_to_end: measureEndToEnd };
    const cells = listCells(options, { threads: COMMAND_DEFAULTS.threads, settings }, agent.description);
    const ofSize = unusable.filter((model) => model.batch === batch && model.sizes === sizes);
    const given = { models, unusable: ofSize, batch, protocol: askedProtocol(options), limits: DEFAULT_LIMITS };
    return cells.map((cell) => toEstimation({ ...cell, ...given }, agent));
  });
}
