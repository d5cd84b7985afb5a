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
import type { Estimation } from '../estimation.js';
import { type SweepMeasuringOptions, parseSettings } from './options.js';

interface ModelEstimationSettings {
  readonly measureEndToEnd: boolean;
  /** Whether it is no error that none of the models can be used, because there are evaluations to estimate. */
  readonly canBeNone?: boolean;
}

/**
 * The estimations of models that a command line names: one for each size of the batch and of each dimension, and each
 * number of threads.
 *
 * @throws PlatformError where none of them can be used
 */
export async function loadModelEstimations(
  references: readonly string[],
  options: SweepMeasuringOptions,
  agent: BenchmarkAgent,
  host: CommandHost,
  { measureEndToEnd, canBeNone = false }: ModelEstimationSettings,
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
    return cells.map((cell): Estimation => {
      return {
        ...cell,
        models,
        unusable: unusable.filter((model) => model.batch === batch && model.sizes === sizes),
        batch,
        protocol: askedProtocol(options),
        limits: DEFAULT_LIMITS,
      };
    });
  });
}
