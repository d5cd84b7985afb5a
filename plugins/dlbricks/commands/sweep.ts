import { join } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  addReuseOptions,
  addWideOption,
  type AgentDescription,
  type BenchmarkAgent,
  type CommandHost,
  listOption,
  numberOption,
  PlatformError,
  prepareOutputs,
  requireWritable,
  writeResult,
  writeShown,
} from '../../../src/plugin-api.js';
import { granularityOf } from '../bricks/decompose.js';
import { type Cut, CUTS } from '../cut/cut.js';
import { type Settings, settingsSchema } from '../settings.js';
import { sweepPlots } from '../sweep/sweep-plots.js';
import { type Sweep, sweepOf, sweepResult, sweepText } from '../sweep/sweep-result.js';
import { estimationsOf } from './estimations.js';
import { addPrecisionOptions, addUncutReportingOptions, type SweepMeasuringOptions } from './options.js';
import { type PlannedEstimation, runWithProgress, isEmpty, setExitCodeOf } from './run-and-report.js';

/** Stands for the default length of the cut. */
const AUTO = 'auto';

const DEFAULT_CUT = settingsSchema.parse({}).cut;

type Granularity = number | typeof AUTO;

interface SweepCommandOptions extends Omit<SweepMeasuringOptions, 'cut' | 'granularity' | 'batch' | 'threads'> {
  readonly cut: readonly Cut[];
  readonly granularity: readonly Granularity[];
  readonly batch?: number;
  readonly threads?: number;
  readonly plots?: string;
  readonly wide?: boolean;
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

function cutOption(text: string): Cut {
  const found = CUTS.find((cut) => cut === text);
  if (found !== undefined) return found;
  throw new InvalidArgumentError(`expected a list of ${CUTS.join(' and ')}`);
}

const lengthOption = numberOption(settingsSchema.shape.granularity);

function granularityOption(text: string): Granularity {
  return text === AUTO ? AUTO : lengthOption(text);
}

/** How models are cut in one part of the sweep. */
interface Configuration extends Pick<Settings, 'cut' | 'granularity'> {
  readonly isDefault: boolean;
}

/** Each cut with each length once, also where the default is one of the others. */
function configurationsOf(cuts: readonly Cut[], lengths: readonly Granularity[], agent: AgentDescription) {
  const found = new Map<string, Configuration>();
  for (const cut of cuts) {
    const byDefault = granularityOf({ cut }, agent);
    for (const length of lengths) {
      const granularity = length === AUTO ? byDefault : length;
      found.set(`${cut} ${granularity}`, { cut, granularity, isDefault: granularity === byDefault });
    }
  }
  return [...found.values()];
}

/** The one estimation that the references name, before it is cut. */
async function toSweep(
  references: readonly string[],
  { batch, threads, ...rest }: Omit<SweepCommandOptions, 'cut' | 'granularity'>,
  agent: BenchmarkAgent,
  host: CommandHost,
): Promise<PlannedEstimation> {
  const one = { ...rest, ...(batch && { batch: [batch] }), ...(threads && { threads: [threads] }) };
  const [estimation, ...others] = await estimationsOf(references, one, agent, host);
  if (estimation !== undefined && others.length === 0) return estimation;
  throw new PlatformError('usage', 'a sweep takes one evaluation, or models; put all models into one evaluation');
}

async function writePlots(folder: string, sweep: Sweep): Promise<void> {
  for (const { file, svg } of sweepPlots(sweep)) await writeResult(join(folder, file), svg());
}

/** `dlbricks sweep EVALUATION`, `dlbricks sweep MODEL...` */
export function registerSweep(parent: Command, host: CommandHost): void {
  const command = parent
    .command('sweep')
    .description('Compare cuts and lengths of bricks: estimates, errors, costs and sharing')
    .argument('<what...>', 'an evaluation manifest, or models: manifest (.yml), .onnx file or zoo:NAME')
    .addOption(
      new Option('-G, --granularity <n,...>', `lengths of the longest brick, as in 1,2,${AUTO}`)
        .argParser(listOption(granularityOption))
        .default([AUTO], AUTO),
    )
    .addOption(
      new Option('--cut <cut,...>', 'graphs that are cut, as in layer,kernel')
        .argParser(listOption(cutOption))
        .default([DEFAULT_CUT], DEFAULT_CUT),
    );
  addReuseOptions(addPrecisionOptions(addWideOption(addUncutReportingOptions(command))))
    .option('--plots <folder>', 'draw the figures as SVG files')
    .addHelpText('after', HELP)
    .action(async (references: string[], { cut, granularity, ...options }: SweepCommandOptions) => {
      const outputs = await prepareOutputs(options);
      if (options.plots !== undefined) await requireWritable(join(options.plots, 'ratios.svg'));
      const agent = await host.connect(options.agent, options.framework);
      const estimation = await toSweep(references, options, agent, host);
      const configurations = configurationsOf(cut, granularity, agent.description);
      const estimations = configurations.map((part): PlannedEstimation => {
        const { cut: ofPart, granularity: ofLength } = part;
        return {
          ...estimation,
          settings: {
            ...estimation.settings,
            cut: ofPart,
            granularity: ofLength,
            measure_end_to_end: true,
            check: false,
          },
        };
      });
      const estimated = await runWithProgress(estimations, agent, options, host);
      const [first, ...others] = estimated.map((one, index) => {
        return { ...one, isDefault: configurations[index]?.isDefault ?? false };
      });
      if (first === undefined) throw new PlatformError('internal', 'a sweep ended without a result');
      const sweep = sweepOf([first, ...others]);
      const shown = {
        result: () => sweepResult(sweep),
        text: ({ width }: { readonly width?: number | undefined }) =>
          sweepText(sweep, { width, wide: options.wide ?? false }),
      };
      await writeShown(shown, { ...outputs, quiet: outputs.quiet || isEmpty(estimated) }, host);
      if (options.plots !== undefined) await writePlots(options.plots, sweep);
      setExitCodeOf(estimated, host);
    });
}
