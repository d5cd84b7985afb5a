import { type CommandHost, DEFAULT_LIMITS, type UnusableModel } from '../../../src/plugin-api.js';
import { loadModels } from './load-models.js';
import {
  askedProtocol,
  DEFAULTS,
  type MeasuringOptions,
  type PlaceOptions,
  type PrecisionOptions,
  type ReuseOptions,
  settingsOf,
} from './options.js';
import { runAndReport } from './run-and-report.js';

/** Estimates the models that a command line names. @throws PlatformError where none of them can be used */
export async function runModels(
  references: readonly string[],
  options: MeasuringOptions & PrecisionOptions & ReuseOptions & PlaceOptions,
  host: CommandHost,
  { measureEndToEnd }: { readonly measureEndToEnd: boolean },
): Promise<void> {
  const agent = await host.connect(options.server, options.framework);
  const unusable: UnusableModel[] = [];
  const models = await loadModels(references, options, host, (model) => {
    host.warn(`warning: ${model.name}: ${model.reason}`);
    unusable.push(model);
  });
  const estimation = {
    models,
    unusable,
    settings: { ...settingsOf(options), measure_end_to_end: measureEndToEnd },
    threads: options.threads ?? DEFAULTS.threads,
    batch: options.batch ?? DEFAULTS.batch,
    protocol: askedProtocol(options),
    limits: DEFAULT_LIMITS,
    remeasure: options.remeasure,
  };
  await runAndReport(estimation, agent, options, host);
}
