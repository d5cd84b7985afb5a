import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  DEFAULT_FRAMEWORK,
  DEFAULT_LIMITS,
  DEFAULT_PROTOCOL,
  defaultThreads,
  dimensionOption,
  DURATION_EXAMPLES,
  durationMsOf,
  FRAMEWORK_NAMES,
  type FrameworkName,
  type GivenText,
  givenTextOf,
  PlatformError,
  type Protocol,
  wholeNumberOption,
} from '../../../src/plugin-api.js';
import type { CutSettings } from '../bricks/prepare-model.js';
import { type Cut, CUTS } from '../cut/cut.js';
import { runOptionsOf } from '../estimation.js';
import type { Remeasure } from '../measure/remeasure.js';
import type { MeasureSettings } from '../measure/tasks.js';
import { type Settings, settingsSchema } from '../settings.js';

/** How models are cut and measured; undefined where the manifest or the default decides. */
export interface MeasuringOptions {
  readonly granularity?: number;
  readonly cut?: Cut;
  readonly threads?: number;
  readonly batch?: number;
  readonly runs?: number;
  readonly warmup?: number;
  readonly dimension?: ReadonlyMap<string, number>;
  readonly input?: ReadonlyMap<string, GivenText>;
}

/** Precision of bricks: the target error in percent, and the limit on repeating. */
export interface PrecisionOptions {
  readonly targetError?: number;
  readonly repeatLimit?: number;
}

/** What happens to measurements that the store has. */
export interface ReuseOptions {
  readonly remeasure?: Remeasure;
}

/** Which agent measures. */
export interface ReachOptions {
  readonly server?: string;
  readonly framework?: FrameworkName;
}

/** The agent, the store and the exports. */
export interface PlaceOptions extends ReachOptions {
  readonly store?: string;
  readonly quiet?: boolean;
  readonly exportJson?: string;
  readonly exportCsv?: string;
  readonly exportMarkdown?: string;
  readonly traceOut?: string;
  readonly exportSvg?: string;
}

export const DEFAULTS = {
  /** @throws PlatformError `usage` where the environment says what cannot be */
  get threads(): number {
    return defaultThreads();
  },
  batch: 1,
} as const;

/** Settings that apply where neither options nor a manifest set them. */
const DEFAULT_SETTINGS = settingsSchema.parse({});

export function addCutOptions(command: Command): Command {
  return command
    .option(
      '-G, --granularity <n>',
      'longest brick, in layers or kernels (default: 1; 64 kernels where the runtime keeps no profile)',
      wholeNumberOption(1, 1_000_000),
    )
    .addOption(
      new Option(
        '--cut <cut>',
        `graph that is cut: kernel, the runtime's optimized graph; layer, the author's graph, as in the paper (default: ${DEFAULT_SETTINGS.cut})`,
      ).choices(CUTS),
    )
    .option('--batch <n>', `size of the batch dimension (default: ${DEFAULTS.batch})`, wholeNumberOption(1, 65_536))
    .option('--dimension <name=value>', 'size of another symbolic dimension; may be repeated', dimensionOption)
    .option(
      '--input <name=value>',
      "values of an input instead of made-up ones: a number, numbers with commas, LOW..HIGH, or a NumPy array's file (.npy); may be repeated",
      inputOption,
    );
}

/** Parses NAME=VALUE, the values of an input, collected over several uses of the option. */
function inputOption(text: string, before: ReadonlyMap<string, GivenText> = new Map()): ReadonlyMap<string, GivenText> {
  const [, name, value = ''] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  const given = givenTextOf(value);
  if (name === undefined || given === undefined) {
    throw new InvalidArgumentError(
      'expected NAME=VALUE, for example lengths=127, ids=0..999, mask=1,1,0 or mask=mask.npy',
    );
  }
  return new Map([...before, [name, given]]);
}

export function addMeasuringOptions(command: Command): Command {
  return addCutOptions(command)
    .option('--threads <n>', `threads of the runtime (default: ${DEFAULTS.threads})`, wholeNumberOption(1, 1024))
    .option(
      '--runs <n>',
      `timed runs per benchmark (default: ${DEFAULT_PROTOCOL.runs})`,
      wholeNumberOption(1, 1_000_000),
    )
    .option(
      '--warmup <n>',
      `runs before them (default: ${DEFAULT_PROTOCOL.warmupRuns})`,
      wholeNumberOption(0, 100_000),
    );
}

/** A positive number, as an option's value. */
function positiveNumber(most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() === '' || !(value > 0 && value <= most)) {
      throw new InvalidArgumentError(`expected a number above 0, at most ${most}`);
    }
    return value;
  };
}

/** Adds the options of the commands that repeat bricks. */
export function addPrecisionOptions(command: Command): Command {
  return command
    .option(
      '--target-error <percent>',
      `repeat bricks in new processes until their part of each estimate's interval is within this (default: ${DEFAULT_SETTINGS.target_error}); kernel cut only`,
      positiveNumber(1000),
    )
    .option(
      '--repeat-limit <factor>',
      `time limit for repeating, in multiples of the time to measure each brick once (default: ${DEFAULT_SETTINGS.repeat_limit})`,
      positiveNumber(1000),
    );
}

const REMEASURE_KINDS = ['all', 'disturbed', 'failed', 'none'] as const;

const OLDER_THAN = 'older-than:';

function remeasureOption(text: string): Remeasure {
  const kind = REMEASURE_KINDS.find((candidate) => candidate === text);
  if (kind !== undefined) return { kind };
  const ageMs = text.startsWith(OLDER_THAN) ? durationMsOf(text.slice(OLDER_THAN.length)) : undefined;
  if (ageMs !== undefined) return { kind: 'older-than', timeMs: new Date().getTime() - ageMs };
  const expected = `${REMEASURE_KINDS.join(', ')} or ${OLDER_THAN}DURATION`;
  throw new InvalidArgumentError(`expected ${expected}, a duration being ${DURATION_EXAMPLES}`);
}

/** For the commands that measure. */
export function addReuseOptions(command: Command): Command {
  return command.option(
    '--remeasure <which>',
    'stored measurements to take again: all, disturbed (by other processes), failed, older-than:7d, none (default: disturbed ones, while the machine is quiet)',
    remeasureOption,
  );
}

/** The plugin's settings: from the options, else from the manifest, else the default. */
export function settingsOf(
  { cut, granularity, targetError, repeatLimit }: MeasuringOptions & PrecisionOptions,
  manifest: Settings = DEFAULT_SETTINGS,
): Settings {
  return {
    ...manifest,
    ...(cut === undefined ? {} : { cut }),
    ...(granularity === undefined ? {} : { granularity }),
    ...(targetError === undefined ? {} : { target_error: targetError }),
    ...(repeatLimit === undefined ? {} : { repeat_limit: repeatLimit }),
  };
}

export function addStoreOption(command: Command): Command {
  return command.option(
    '--store <uri>',
    'where measurements are kept: a path, or memory: (default: in your data folder, or MLMODELSCOPE_STORE)',
  );
}

export function addAgentOptions(command: Command): Command {
  const framework = `framework of the agent that is started on this machine (default: ${DEFAULT_FRAMEWORK})`;
  return command
    .option('--server <host:port>', 'agent that measures (default: start one on this machine)')
    .addOption(new Option('--framework <name>', framework).choices(FRAMEWORK_NAMES));
}

/** For every command that shows a table. */
export function addTableOptions(command: Command): Command {
  return command
    .option(
      '--export-json <file>',
      'write the whole report; - is standard output, the table then goes to standard error',
    )
    .option('--export-csv <file>', 'write one row per model')
    .option('--export-markdown <file>', 'write the table and the summary');
}

function addExportOptions(command: Command): Command {
  return addTableOptions(command)
    .option('--trace-out <file>', 'write the bricks of each estimate as Chrome trace JSON, for Perfetto')
    .option('--quiet', 'no progress and no table; errors and warnings only');
}

/** Adds the options of every command that reports on models: cut, protocol, agent, store and exports. */
export function addReportingOptions(command: Command): Command {
  return addExportOptions(addAgentOptions(addStoreOption(addMeasuringOptions(command))));
}

/** How models are cut. */
export function cutOf(options: MeasuringOptions): CutSettings {
  const { cut, granularity } = settingsOf(options);
  return { cut, granularity, runOptions: runOptionsOf(options.threads ?? DEFAULTS.threads) };
}

/** @throws PlatformError `usage` for options of the cut where the models are cut already */
export function refuseCutOptions(options: MeasuringOptions, where: string): void {
  const names = {
    granularity: '--granularity',
    cut: '--cut',
    batch: '--batch',
    dimension: '--dimension',
    input: '--input',
  } as const;
  for (const [key, name] of Object.entries(names)) {
    if (options[key as keyof typeof names] === undefined) continue;
    throw new PlatformError('usage', `${name} cannot be used with ${where}; it was set when the suite was generated`);
  }
}

/** The manifest's protocol, or the default, with the changes that the options ask for. */
export function askedProtocol(
  { runs: asked, warmup }: MeasuringOptions,
  manifest: Protocol = DEFAULT_PROTOCOL,
): Protocol {
  const runs = asked ?? manifest.runs;
  return {
    ...manifest,
    warmupRuns: warmup ?? manifest.warmupRuns,
    runs,
    minRuns: Math.min(runs, manifest.minRuns),
  };
}

/** Adds the options of the protocol, for commands without a manifest. */
export function measureSettingsOf(options: MeasuringOptions): MeasureSettings {
  const runOptions = runOptionsOf(options.threads ?? DEFAULTS.threads);
  return { runOptions, protocol: askedProtocol(options), limits: DEFAULT_LIMITS };
}
