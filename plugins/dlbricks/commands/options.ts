import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  addAgentOptions,
  addBatchOption,
  addInputOptions,
  addProtocolOptions,
  addQuietOption,
  addStoreOption,
  addSweepInputOptions,
  addSweepOptions,
  addTableOptions,
  addThreadsOption,
  addWideOption,
  type AgentDescription,
  type AgentOptions,
  askedProtocol,
  durationOption,
  COMMAND_DEFAULTS,
  DEFAULT_LIMITS,
  type InputOptions,
  listOption,
  addLogOption,
  addReuseOptions,
  type LogOption,
  numberOption,
  percentOption,
  type OutputOptions,
  PlatformError,
  type ProtocolOptions,
  type ReuseOptions,
  addRuntimeOptions,
  type RunOptions,
  buildRunOptions,
  type RuntimeAxes,
  parseRuntime,
  type SweepInputOptions,
  type SweepOptions,
} from '../../../src/plugin-api.js';
import { type CutSettings, SHORTEN, type Shorten } from '../bricks/decompose.js';
import { AUTO, type CellAxes, type Granularity } from '../cells.js';
import { type Cut, CUTS } from '../cut/cut.js';
import { type Measure, MEASURE } from '../measure/largest.js';
import type { MeasureSettings } from '../measure/tasks.js';
import { type BestAsked, FIGURES } from '../report/best.js';
import { type Settings, settingsSchema } from '../settings.js';

interface CutOptions extends InputOptions {
  readonly granularity?: number;
  readonly cut?: Cut;
  readonly keepDynamic?: boolean;
  readonly shorten?: Shorten;
  readonly valuesOfRun?: boolean;
}

/** For commands that take one size of the batch and one number of threads. */
export interface MeasuringOptions extends CutOptions, ProtocolOptions, RuntimeAxes {
  readonly batch?: number;
  readonly threads?: number;
}

interface PrecisionOptions {
  readonly measure?: Measure;
  readonly targetError?: number;
  readonly repeatLimit?: number;
  readonly check?: boolean;
}

export interface BestOptions {
  readonly best?: BestAsked['best'];
  readonly within?: number;
}

/** @throws PlatformError `usage` for a limit without a question */
export function bestAsked({ best, within }: BestOptions): BestAsked | undefined {
  if (best !== undefined) return { best, withinMs: within };
  if (within === undefined) return undefined;
  throw new PlatformError('usage', '--within needs --best latency or --best throughput');
}

export interface PlaceOptions extends AgentOptions, OutputOptions {
  readonly store?: string;
  readonly wide?: boolean;
}

/** For each combination of the values. */
export interface SweepMeasuringOptions
  extends
    Omit<CutOptions, 'cut' | 'granularity' | 'dimension'>,
    Pick<CellAxes, 'cut' | 'granularity'>,
    SweepInputOptions,
    ProtocolOptions,
    SweepOptions,
    PrecisionOptions,
    ReuseOptions,
    LogOption,
    BestOptions,
    PlaceOptions {}

const DEFAULT_SETTINGS = settingsSchema.parse({});

const lengthOption = numberOption(settingsSchema.shape.granularity);

function cutOption(text: string): Cut {
  const found = CUTS.find((cut) => cut === text);
  if (found !== undefined) return found;
  throw new InvalidArgumentError(`expected ${CUTS.join(' or ')}, or both with a comma between them`);
}

const LONGEST = `longest brick, in layers or kernels (default: 1; 64 kernels in models of many short kernels, and where the runtime keeps no profile)`;
const CUT = `graph that is cut: kernel, the runtime's optimized graph; layer, the author's graph, as in the paper (default: ${DEFAULT_SETTINGS.cut})`;

/** @param several whether the command takes lists of cuts and lengths */
function addGraphOptions(command: Command, several: boolean): Command {
  const granularity = several
    ? new Option('-G, --granularity <n,...>', `${LONGEST}; a list as in 1,2,${AUTO}`).argParser(
        listOption((text): Granularity => (text === AUTO ? AUTO : lengthOption(text))),
      )
    : new Option('-G, --granularity <n>', LONGEST).argParser(lengthOption);
  const cut = several
    ? new Option('--cut <cut,...>', CUT).argParser(listOption(cutOption))
    : new Option('--cut <cut>', CUT).choices(CUTS);
  return command
    .addOption(
      new Option(
        '--shorten <models>',
        `optimize two and three of a model's repeated blocks, and extend the result to all: large, for models with more than 2 GiB of weights; auto, also where it is faster; always; never (default: ${DEFAULT_SETTINGS.shorten}); kernel cut only`,
      ).choices(SHORTEN),
    )
    .addOption(granularity)
    .addOption(cut)
    .option(
      '--keep-dynamic',
      "keep dimensions open that are open in the model's file, while the runtime optimizes graphs and runs whole models",
    );
}

/** For commands whose bricks stay on this machine: values of a run say something about weights. */
function addValuesOption(command: Command): Command {
  return command.option(
    '--values-of-run',
    "run each model once, with its file's own weights where the agent is on this machine, and give bricks its sizes and the values that decide their work: boxes and scores, trip counts, conditions",
  );
}

export function addCutOptions(command: Command): Command {
  return addInputOptions(addBatchOption(addGraphOptions(command, false)));
}

export function addMeasuringOptions(command: Command): Command {
  return addProtocolOptions(addRuntimeOptions(addThreadsOption(addCutOptions(command))));
}

/** For commands that measure each brick that the store lacks. */
export function addRunOptions(command: Command): Command {
  const withPrecision = command
    .option(
      '--target-error <percent>',
      `repeat bricks in new processes until each estimate's interval is within ± this (default: ${DEFAULT_SETTINGS.target_error}); kernel cut only`,
      percentOption(settingsSchema.shape.target_error),
    )
    .option(
      '--repeat-limit <factor>',
      `time limit for repeating, in multiples of the time to measure each brick once; three seconds at least, 0 repeats nothing (default: ${DEFAULT_SETTINGS.repeat_limit})`,
      numberOption(settingsSchema.shape.repeat_limit),
    );
  return addReuseOptions(addLogOption(withPrecision));
}

export function addMeasureOption(command: Command): Command {
  return command.addOption(
    new Option(
      '--measure <bricks>',
      `which bricks to measure that the store lacks: all; largest, those that narrow intervals most, until --target-error; none. The others are predicted from measured ones of the same operator (default: ${DEFAULT_SETTINGS.measure}); kernel cut only`,
    ).choices(MEASURE),
  );
}

/** From the options, else the manifest, else the default. */
export function parseSettings(
  options: Omit<CutOptions, 'cut' | 'granularity' | 'dimension'> & PrecisionOptions & ReuseOptions,
  manifest: Settings = DEFAULT_SETTINGS,
): Settings {
  return {
    ...manifest,
    keep_dynamic: options.keepDynamic ?? manifest.keep_dynamic,
    shorten: options.shorten ?? manifest.shorten,
    values: options.valuesOfRun === true ? 'run' : manifest.values,
    measure: options.measure ?? manifest.measure,
    target_error: options.targetError ?? manifest.target_error,
    repeat_limit: options.repeatLimit ?? manifest.repeat_limit,
    ...(options.check !== undefined && { check: options.check }),
    ...(options.remeasure !== undefined && { remeasure: options.remeasure }),
  };
}

function addPlaceOptions(command: Command): Command {
  return addQuietOption(addWideOption(addTableOptions(addAgentOptions(addStoreOption(command)))));
}

function addPictureOptions(command: Command): Command {
  return command
    .option('--trace-out <file>', 'write the bricks of each estimate as Chrome trace JSON, for Perfetto')
    .option('--export-svg <file>', 'draw the kernels or layers of each model, with the longest path through them')
    .option('--export-dot <file>', 'the same for Graphviz');
}

export function addReportingOptions(command: Command): Command {
  return addPictureOptions(addPlaceOptions(addMeasuringOptions(addValuesOption(command))));
}

export function addSweepReportingOptions(command: Command): Command {
  return addPictureOptions(addCutSweepOptions(command))
    .addOption(
      new Option(
        '--best <figure>',
        'name the best combination of each model: lowest latency, highest throughput',
      ).choices(FIGURES),
    )
    .option('--within <duration>', 'only among combinations whose estimate is within this, as in 20ms', durationOption);
}

export function addCutSweepOptions(command: Command): Command {
  return addPlaceOptions(
    addProtocolOptions(addSweepOptions(addSweepInputOptions(addValuesOption(addGraphOptions(command, true))))),
  );
}

export function askedRunOptions(
  options: RuntimeAxes & { readonly threads?: number | undefined },
  agent?: Pick<AgentDescription, 'providers'>,
): RunOptions {
  return buildRunOptions(options.threads ?? COMMAND_DEFAULTS.threads, agent, parseRuntime(options));
}

export function parseCutSettings(
  options: CutOptions & RuntimeAxes & { readonly threads?: number },
  agent: Pick<AgentDescription, 'providers'>,
): CutSettings {
  const { cut = DEFAULT_SETTINGS.cut, granularity } = options;
  return { ...parseSettings(options), cut, granularity, runOptions: askedRunOptions(options, agent) };
}

/** As users write it. */
export function optionOf(key: string): string {
  return `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** @throws PlatformError `usage` for options of the cut where the models are cut already */
export function refuseCutOptions(
  options: Readonly<Partial<Record<keyof CutOptions | 'batch', unknown>>>,
  where: string,
): void {
  const keys = ['granularity', 'cut', 'keepDynamic', 'shorten', 'valuesOfRun', 'batch', 'dimension', 'input'] as const;
  const given = keys.find((key) => options[key] !== undefined);
  if (given === undefined) return;
  const problem = `${optionOf(given)} cannot be used with ${where}; it was set when the suite was generated`;
  throw new PlatformError('usage', problem);
}

export function parseMeasureSettings(
  options: ProtocolOptions & RuntimeAxes & { readonly threads?: number | undefined },
  agent: Pick<AgentDescription, 'providers'>,
): MeasureSettings {
  return { runOptions: askedRunOptions(options, agent), protocol: askedProtocol(options), limits: DEFAULT_LIMITS };
}
