import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  DEFAULT_FRAMEWORK,
  DEFAULT_LIMITS,
  DEFAULT_PROTOCOL,
  FRAMEWORK_NAMES,
  type FrameworkName,
  PlatformError,
  type Protocol,
  wholeNumberOption,
} from '../../../src/plugin-api.js';
import type { CutSettings } from '../bricks/prepare-model.js';
import { type Cut, CUTS } from '../cut/cut.js';
import { runOptionsOf } from '../estimation.js';
import type { MeasureSettings } from '../measure/tasks.js';
import { type Settings, settingsSchema } from '../settings.js';

/** `name=value` pairs, collected over several uses of the option. */
function dimensionBinding(text: string, bound: ReadonlyMap<string, number> = new Map()): ReadonlyMap<string, number> {
  const match = /^(?<name>[^=]+)=(?<value>\d{1,9})$/.exec(text);
  const value = Number(match?.groups?.['value']);
  if (match?.groups?.['name'] === undefined) {
    throw new InvalidArgumentError('expected NAME=VALUE, for example sequence=128');
  }
  if (match.groups['name'] === 'batch') throw new InvalidArgumentError('the size of the batch is given with --batch');
  return new Map([...bound, [match.groups['name'], value]]);
}

/** How models are cut and measured; undefined where the command line leaves it to a manifest or the default. */
export interface MeasuringOptions {
  readonly granularity?: number;
  readonly cut?: Cut;
  readonly threads?: number;
  readonly batch?: number;
  readonly runs?: number;
  readonly warmup?: number;
  readonly dimension?: ReadonlyMap<string, number>;
}

/** Precision of bricks: the target error in percent, and the limit on repeating. */
export interface PrecisionOptions {
  readonly targetError?: number;
  readonly repeatLimit?: number;
}

/** Which agent measures. */
export interface ReachOptions {
  readonly server?: string;
  readonly framework?: FrameworkName;
}

/** Where the work is done and where its results go. */
export interface PlaceOptions extends ReachOptions {
  readonly store?: string;
  readonly quiet?: boolean;
  readonly exportJson?: string;
  readonly exportCsv?: string;
  readonly exportMarkdown?: string;
  readonly traceOut?: string;
  readonly exportSvg?: string;
}

export const DEFAULTS = { threads: 1, batch: 1 } as const;

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
    .option('--dimension <name=value>', 'size of another symbolic dimension; may be repeated', dimensionBinding);
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

/** For the commands that decide how often bricks are measured. */
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

/** The plugin's settings as the options say, else as a manifest does, else by default. */
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

/** What every command has that makes reports of models: how to cut and measure, where, and where results go. */
export function addReportingOptions(command: Command): Command {
  return addExportOptions(addAgentOptions(addStoreOption(addMeasuringOptions(command))));
}

/** How models are cut. */
export function cutOf(options: MeasuringOptions): CutSettings {
  const { cut, granularity } = settingsOf(options);
  return { cut, granularity, runOptions: runOptionsOf(options.threads ?? DEFAULTS.threads) };
}

/** @throws PlatformError `usage` for options that say how to cut what is cut already */
export function refuseCutOptions(options: MeasuringOptions, where: string): void {
  const names = { granularity: '--granularity', cut: '--cut', batch: '--batch', dimension: '--dimension' } as const;
  for (const [key, name] of Object.entries(names)) {
    if (options[key as keyof typeof names] === undefined) continue;
    throw new PlatformError('usage', `${name} cannot be used with ${where}; it was set when the suite was generated`);
  }
}

/** The protocol that the options ask for, on top of a manifest's where there is one. */
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

/** How everything is measured where there is no manifest. */
export function measureSettingsOf(options: MeasuringOptions): MeasureSettings {
  const runOptions = runOptionsOf(options.threads ?? DEFAULTS.threads);
  return { runOptions, protocol: askedProtocol(options), limits: DEFAULT_LIMITS };
}
