import { join } from 'node:path';
import type { Command } from 'commander';
import {
  addLogOption,
  addReuseOptions,
  type BenchmarkAgent,
  type CommandHost,
  PlatformError,
  prepareOutputs,
  requireWritable,
  writeResult,
  writeShown,
} from '../../../src/plugin-api.js';
import { chooseGranularity } from '../bricks/decompose.js';
import { AUTO } from '../cells.js';
import { type Estimation, toEstimation } from '../estimation.js';
import { settingsSchema } from '../settings.js';
import { sweepPage } from '../sweep/sweep-page.js';
import { sweepPlots } from '../sweep/sweep-plots.js';
import { buildSweep, sweepResult, sweepText } from '../sweep/sweep-result.js';
import { readEstimations } from './estimations.js';
import { addPrecisionOptions, addCutSweepOptions, type SweepMeasuringOptions } from './options.js';
import { runWithProgress, isEmpty, setEstimateExit } from './run-and-report.js';

const DEFAULT_CUT = settingsSchema.parse({}).cut;

interface SweepCommandOptions extends SweepMeasuringOptions {
  readonly plots?: string;
}

const HELP = `
Each whole model is measured once. Each unique brick is measured once, even if
several cuts or lengths have it. Measurements in the store are not repeated, so
an interrupted sweep continues. The table has a row for each cut and length;
--wide adds a table with a row for each model, and --export-csv has the same.

Plots are SVG files: normalized latency of each model, the three ratios of
costs (docs/measuring.md), the share of unique bricks, and for each cut and
length the Jaccard index of each pair of models.

Examples:
  mlmodelscope dlbricks sweep zoo:resnet18 zoo:vgg16 --granularity 1,2,4
  mlmodelscope dlbricks sweep manifests/evaluations/quickstart.yml \\
    --cut layer,kernel --granularity 1,2,3,4,5,6 --plots out/plots`;

async function toSweep(
  references: readonly string[],
  options: SweepCommandOptions,
  agent: BenchmarkAgent,
  host: CommandHost,
): Promise<readonly Estimation[]> {
  const usual = { cut: [DEFAULT_CUT], granularity: [AUTO] } as const;
  const estimations = await readEstimations(references, options, agent, host, usual);
  const inputs = new Set(estimations.map(({ models }) => models));
  const others = estimations.map(({ runOptions, settings }) => [runOptions, { ...settings, cut: '', granularity: 0 }]);
  if (inputs.size === 1 && new Set(others.map((one) => JSON.stringify(one))).size === 1) {
    return estimations.map((one) => {
      const settings = { ...one.settings, measure_end_to_end: true, check: false };
      return toEstimation({ ...one, settings, threads: one.runOptions.threads }, agent);
    });
  }
  const remedy = "give each other setting one value; 'dlbricks validate' takes lists of all of them";
  throw new PlatformError('usage', `a sweep takes one evaluation, or models, and compares only cuts; ${remedy}`);
}

export function registerSweep(parent: Command, host: CommandHost): void {
  const command = parent
    .command('sweep')
    .description('Compare cuts and lengths of bricks: estimates, errors, costs and sharing')
    .argument('<what...>', 'an evaluation manifest, or models: manifest (.yml), .onnx file or zoo:NAME');
  addReuseOptions(addLogOption(addPrecisionOptions(addCutSweepOptions(command))))
    .option('--plots <folder>', 'draw the figures as SVG files')
    .addHelpText('after', HELP)
    .action(async (references: string[], options: SweepCommandOptions) => {
      const outputs = await prepareOutputs(options);
      if (options.plots !== undefined) await requireWritable(join(options.plots, 'ratios.svg'));
      const agent = await host.connect(options.agent, options.framework);
      const estimations = await toSweep(references, options, agent, host);
      const estimated = await runWithProgress(estimations, agent, options, host);
      const [first, ...others] = estimated.map((one) => {
        const { cut, granularity } = one.report.settings;
        return { ...one, isDefault: granularity === chooseGranularity({ cut }, agent.description) };
      });
      if (first === undefined) throw new PlatformError('internal', 'a sweep ended without a result');
      const sweep = buildSweep([first, ...others]);
      const shown = {
        result: () => sweepResult(sweep),
        page: () => sweepPage(sweep),
        text: ({ width }: { readonly width?: number | undefined }) =>
          sweepText(sweep, { width, wide: options.wide ?? false }),
      };
      await writeShown(shown, { ...outputs, quiet: outputs.quiet || isEmpty(estimated) }, host);
      if (options.plots !== undefined)
        for (const { file, svg } of sweepPlots(sweep)) await writeResult(join(options.plots, file), svg());
      setEstimateExit(estimated, estimations, host);
    });
}
