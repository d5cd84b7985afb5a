import { join } from 'node:path';
import type { Command } from 'commander';
import { type CommandHost, requireWritable, writeResult } from '../../../src/plugin-api.js';
import type { Estimated } from '../estimation.js';
import { calibrationPlot } from '../report/interval-scores.js';
import { loadModelEstimations } from './estimations.js';
import { addRunOptions, addSweepReportingOptions, type SweepMeasuringOptions } from './options.js';
import { runAndReport } from './run-and-report.js';

interface ValidateOptions extends SweepMeasuringOptions {
  readonly plots?: string;
}

async function writeCalibration(folder: string, estimated: readonly Estimated[]): Promise<void> {
  for (const { report } of estimated) {
    const { summary } = report;
    const { batch } = report.settings;
    const { threads } = report.system;
    const file = estimated.length === 1 ? 'calibration.svg' : `calibration-batch-${batch}-threads-${threads}.svg`;
    const title = `Calibration of the intervals, batch ${batch}, threads: ${threads}`;
    await writeResult(join(folder, file), calibrationPlot(title, summary));
  }
}

export function registerValidate(parent: Command, host: CommandHost): void {
  const command = parent
    .command('validate')
    .description('Estimate models, and measure each whole model too')
    .argument('<model...>', 'model manifest (.yml), .onnx file or zoo:NAME')
    .option('--plots <folder>', 'draw the calibration of the intervals as SVG files');
  addRunOptions(addSweepReportingOptions(command))
    .addHelpText(
      'after',
      `
Each whole model is measured after the bricks and again at the end. The
difference is the machine's repeatability; no estimate can be more accurate.
The optimized graph of each model also runs once whole with the runtime's
profile, and the kernels that differ from their bricks are named.

Examples:
  mlmodelscope dlbricks validate zoo:squeezenet1.1 zoo:resnet18
  mlmodelscope dlbricks validate my-detector.onnx --values-of-run
  mlmodelscope dlbricks validate zoo:resnet18 --batch 1,2,4 --threads 1,2
  mlmodelscope dlbricks validate *.onnx --export-json - | jq .summary`,
    )
    .action(async (references: string[], options: ValidateOptions) => {
      const { plots } = options;
      if (plots !== undefined) await requireWritable(join(plots, 'calibration.svg'));
      const agent = await host.connect(options.agent, options.framework);
      const estimations = await loadModelEstimations(references, options, agent, host, { measure_end_to_end: true });
      const estimated = await runAndReport(estimations, agent, options, host);
      if (plots !== undefined) await writeCalibration(plots, estimated);
    });
}
