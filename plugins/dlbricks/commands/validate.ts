import type { Command } from 'commander';
import { type CommandHost, DEFAULT_LIMITS, type UnusableModel } from '../../../src/plugin-api.js';
import { loadModels } from './load-models.js';
import {
  addPrecisionOptions,
  addReportingOptions,
  addReuseOptions,
  DEFAULTS,
  type MeasuringOptions,
  type PlaceOptions,
  type PrecisionOptions,
  type ReuseOptions,
  askedProtocol,
  settingsOf,
} from './options.js';
import { runAndReport } from './run.js';

/** `dlbricks validate MODEL...` */
export function registerValidate(parent: Command, host: CommandHost): void {
  const command = parent
    .command('validate')
    .description('Estimate models, and measure each whole model too')
    .argument('<model...>', 'model manifest (.yml), .onnx file or zoo:NAME');
  addReuseOptions(addPrecisionOptions(addReportingOptions(command)))
    .addHelpText(
      'after',
      `
Each whole model is measured after the bricks and again at the end. The
difference is the machine's repeatability; no estimate can be more accurate.

Examples:
  mlmodelscope dlbricks validate zoo:squeezenet1.1 zoo:resnet18
  mlmodelscope dlbricks validate *.onnx --export-json - | jq .summary`,
    )
    .action(
      async (references: string[], options: MeasuringOptions & PrecisionOptions & ReuseOptions & PlaceOptions) => {
        const agent = await host.connect(options.server, options.framework);
        const unusable: UnusableModel[] = [];
        const models = await loadModels(references, options, host, (model) => {
          host.warn(`warning: ${model.name}: ${model.reason}`);
          unusable.push(model);
        });
        const estimation = {
          models,
          unusable,
          settings: { ...settingsOf(options), measure_end_to_end: true },
          threads: options.threads ?? DEFAULTS.threads,
          batch: options.batch ?? DEFAULTS.batch,
          protocol: askedProtocol(options),
          limits: DEFAULT_LIMITS,
          remeasure: options.remeasure,
        };
        await runAndReport(estimation, agent, options, host);
      },
    );
}
