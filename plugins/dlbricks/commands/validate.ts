import type { Command } from 'commander';
import type { CommandHost } from '../../../src/plugin-api.js';
import { loadModels } from './load-models.js';
import {
  addPrecisionOptions,
  addReportingOptions,
  cutOf,
  DEFAULTS,
  type MeasuringOptions,
  type PlaceOptions,
  precisionOf,
  type PrecisionOptions,
  protocolOf,
} from './options.js';
import { runEvaluation } from './run.js';

/** `dlbricks validate MODEL...` */
export function registerValidate(parent: Command, host: CommandHost): void {
  const command = parent
    .command('validate')
    .description('Estimate models and measure each whole model too, interleaved with its bricks')
    .argument('<model...>', 'model manifest (.yml), .onnx file or zoo:NAME');
  addPrecisionOptions(addReportingOptions(command))
    .addHelpText(
      'after',
      `
Each whole model is measured right before its bricks and once more at the end;
the difference is the machine's own repeatability, the floor under every
accuracy figure.

Examples:
  mlmodelscope dlbricks validate zoo:squeezenet1.1 zoo:resnet18
  mlmodelscope dlbricks validate *.onnx --export-json - | jq .summary`,
    )
    .action(async (references: string[], options: MeasuringOptions & PrecisionOptions & PlaceOptions) => {
      const agent = await host.connect(options.server, options.framework);
      const models = await loadModels(references, options, host);
      const settings = {
        models,
        cut: cutOf(options),
        batch: options.batch ?? DEFAULTS.batch,
        protocol: protocolOf(options),
        measureEndToEnd: true,
        precision: precisionOf(options),
      };
      await runEvaluation(settings, agent, options, host);
    });
}
