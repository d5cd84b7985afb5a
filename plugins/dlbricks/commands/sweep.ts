import { join } from 'node:path';
import type { Command } from 'commander';
import {
  type BenchmarkAgent,
  type CommandHost,
  PlatformError,
  requireWritable,
  type Shown,
  writeResult,
} from '../../../src/plugin-api.js';
import { chooseGranularity } from '../bricks/decompose.js';
import { AUTO } from '../cells.js';
import type { Estimated } from '../estimation.js';
import { settingsSchema } from '../settings.js';
import type { EstimateRequest } from '../system-run.js';
import { type Sweep, buildSweep, sweepResult, sweepText, sweepPage, sweepPlots } from '../sweep/sweep-result.js';
import { readEstimations } from './estimations.js';
import { addRunOptions, addCutSweepOptions, type SweepMeasuringOptions } from './options.js';
import { runAndReport } from './run-and-report.js';

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
): Promise<readonly EstimateRequest[]> {
  const usualAxes = { cut: [DEFAULT_CUT], granularity: [AUTO] } as const;
  const forced = { measure_end_to_end: true, check: false };
  const estimations = await readEstimations(references, options, agent, host, { usualAxes, forced });
  const inputs = new Set(estimations.map(({ models }) => models));
  const others = estimations.map(({ runOptions, settings }) => [runOptions, { ...settings, cut: '', granularity: 0 }]);
  if (inputs.size === 1 && new Set(others.map((one) => JSON.stringify(one))).size === 1) return estimations;
  const remedy = "give each other setting one value; 'dlbricks validate' takes lists of all of them";
  throw new PlatformError('usage', `a sweep takes one evaluation, or models, and compares only cuts; ${remedy}`);
}

export function registerSweep(parent: Command, host: CommandHost): void {
  const command = parent
    .command('sweep')
    .description('Compare cuts and lengths of bricks: estimates, errors, costs and sharing')
    .argument('<what...>', 'an evaluation manifest, or models: manifest (.yml), .onnx file or zoo:NAME');
  addRunOptions(addCutSweepOptions(command))
    .option('--plots <folder>', 'draw the figures as SVG files')
    .addHelpText('after', HELP)
    .action(async (references: string[], options: SweepCommandOptions) => {
      if (options.plots !== undefined) await requireWritable(join(options.plots, 'ratios.svg'));
      const agent = await host.connect(options.agent, options.framework);
      const estimations = await toSweep(references, options, agent, host);
      const toDocument = (estimated: readonly Estimated[]): Sweep => {
        const [first, ...others] = estimated.map((one) => {
          const { cut, granularity } = one.report.settings;
          return { ...one, isDefault: granularity === chooseGranularity({ cut }, agent.description) };
        });
        if (first === undefined) throw new PlatformError('internal', 'a sweep ended without a result');
        return buildSweep([first, ...others]);
      };
      const show = (estimated: readonly Estimated[]): Shown => {
        const sweep = toDocument(estimated);
        return {
          result: () => sweepResult(sweep),
          page: () => sweepPage(sweep),
          text: ({ width }) => sweepText(sweep, { width, wide: options.wide ?? false }),
        };
      };
      const estimated = await runAndReport(estimations, agent, options, host, show);
      if (options.plots !== undefined)
        for (const { file, svg } of sweepPlots(toDocument(estimated)))
          await writeResult(join(options.plots, file), svg());
    });
}
