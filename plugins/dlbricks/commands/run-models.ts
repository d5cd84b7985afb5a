import {
  askedProtocol,
  COMMAND_DEFAULTS,
  type CommandHost,
  DEFAULT_LIMITS,
  loadBatches,
  type ProtocolOptions,
  type ReuseOptions,
  type SweepOptions,
  type UnusableModel,
} from '../../../src/plugin-api.js';
import type { Estimation } from '../estimation.js';
import { type CutOptions, type PlaceOptions, type PrecisionOptions, settingsOf } from './options.js';
import { runAndReport } from './run-and-report.js';

/** Options of the commands that measure bricks, each once for all combinations of batch and threads. */
export interface RunOptions
  extends CutOptions, ProtocolOptions, SweepOptions, PrecisionOptions, ReuseOptions, PlaceOptions {}

/** Estimates the models that a command line names. @throws PlatformError where none of them can be used */
export async function runModels(
  references: readonly string[],
  options: RunOptions,
  host: CommandHost,
  { measureEndToEnd }: { readonly measureEndToEnd: boolean },
): Promise<void> {
  const agent = await host.connect(options.agent, options.framework);
  const batches = options.batch ?? [COMMAND_DEFAULTS.batch];
  const unusable: (UnusableModel & { readonly batch: number })[] = [];
  const loaded = await loadBatches(
    {
      references,
      batches,
      inputs: options,
      quiet: options.quiet ?? false,
      onUnusable: (model, { batch }) => {
        host.warn(`warning: ${model.name}: ${model.reason}`);
        unusable.push({ ...model, batch });
      },
    },
    host,
  );
  const estimations = loaded.flatMap(({ batch, models }) => {
    return (options.threads ?? [COMMAND_DEFAULTS.threads]).map((threads): Omit<Estimation, 'startMs'> => {
      return {
        models,
        unusable: unusable.filter((model) => model.batch === batch),
        settings: { ...settingsOf(options), measure_end_to_end: measureEndToEnd },
        threads,
        batch,
        protocol: askedProtocol(options),
        limits: DEFAULT_LIMITS,
        remeasure: options.remeasure,
      };
    });
  });
  await runAndReport(estimations, agent, options, host);
}
