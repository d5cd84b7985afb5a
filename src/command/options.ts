// Options that commands have in common, so that the same thing has the same name everywhere.
import { type Command, InvalidArgumentError, Option } from 'commander';
import { defaultThreads, threadsSchema } from '../base/default-threads.js';
import { PlatformError } from '../base/errors.js';
import { listOption, numberOption } from '../base/option-value.js';
import { batchSizeField, DEFAULT_PROTOCOL } from '../manifest/evaluation.js';
import { isManifestPath } from '../manifest/reference.js';
import { type Protocol, protocolSchema } from '../measurement/protocol.js';
import {
  DEFAULT_RUNTIME,
  EXECUTION_MODES,
  OPTIMIZATION_LEVELS,
  type RuntimeSettings,
  runtimeSettings,
  combineRuntimes,
  sessionProblem,
  type RuntimeAxes,
} from '../measurement/runtime-settings.js';
import { sessionEntry } from '../measurement/session-entry.js';
import { type GivenText, parseGivenText } from '../onnx/values/given-values.js';
import { DEFAULT_FRAMEWORK, FRAMEWORK_NAMES, type FrameworkName } from '../predictor/frameworks.js';
import { storeDescription } from './store-description.js';
import { dimensionSizeField } from '../manifest/fields.js';
import { REMEASURE_WORDS, parseRemeasure } from '../measurement/remeasure.js';

export interface OutputOptions {
  readonly quiet?: boolean;
  readonly exportJson?: string;
  readonly exportCsv?: string;
  readonly exportMarkdown?: string;
  readonly exportHtml?: string;
  readonly traceOut?: string;
  readonly exportSvg?: string;
  readonly exportDot?: string;
  readonly samples?: string;
}

export interface AgentOptions {
  readonly agent?: string;
  readonly framework?: FrameworkName;
  /** Whether it runs models whose manifests ask for other versions of its framework. */
  readonly allowVersion?: true;
}

export interface ProtocolOptions {
  readonly runs?: number;
  readonly warmup?: number;
}

/** Each model is run once for each combination of the values. */
export interface SweepOptions extends RuntimeAxes {
  readonly batch?: readonly number[];
  readonly threads?: readonly number[];
}

export interface InputOptions {
  /** Sizes of symbolic dimensions beside the batch. */
  readonly dimension?: ReadonlyMap<string, number>;
  /** Values instead of made-up ones. */
  readonly input?: ReadonlyMap<string, GivenText>;
}

/** The same for commands that run each model once for each combination of the sizes. */
export interface SweepInputOptions extends Pick<InputOptions, 'input'> {
  readonly dimension?: ReadonlyMap<string, readonly number[]>;
}

/** Values for a command line without `--threads` or `--batch`. */
export const COMMAND_DEFAULTS = {
  /** @throws PlatformError `usage` where the environment has an invalid value */
  get threads(): number {
    return defaultThreads();
  },
  batch: 1,
} as const;

export function addBatchOption(command: Command): Command {
  const description = `size of the batch dimension (default: ${COMMAND_DEFAULTS.batch})`;
  return command.option('--batch <n>', description, numberOption(batchSizeField));
}

export function addThreadsOption(command: Command): Command {
  const description = `threads of the runtime (default: ${COMMAND_DEFAULTS.threads})`;
  return command.option('--threads <n>', description, numberOption(threadsSchema));
}

function choiceOption<T extends string>(choices: readonly T[]): (text: string) => T {
  return (text) => {
    const found = choices.find((choice) => choice === text);
    if (found !== undefined) return found;
    throw new InvalidArgumentError(`expected ${choices.join(', ')}`);
  };
}

/** Parses KEY=VALUE of a session, collected over several uses of the option. */
function sessionOption(
  text: string,
  before: ReadonlyMap<string, readonly string[]> = new Map(),
): ReadonlyMap<string, readonly string[]> {
  const [key, value] = sessionEntry(text) ?? [];
  if (key === undefined || value === undefined)
    throw new InvalidArgumentError('expected KEY=VALUE, as in session.disable_prepacking=1');
  const problem = sessionProblem(key, value);
  if (problem !== undefined) throw new InvalidArgumentError(problem);
  return new Map([...before, [key, [...new Set([...(before.get(key) ?? []), value])]]]);
}

const { inter_op_threads: interOpThreadsField } = runtimeSettings;

/** For all commands that run models with settings: lists run once for each combination. */
export function addRuntimeOptions(command: Command): Command {
  const { optimization_level: level, execution_mode: mode, inter_op_threads: atATime } = DEFAULT_RUNTIME;
  return command
    .option(
      '--optimization-level <level,...>',
      `optimizations of graphs by the runtime: ${OPTIMIZATION_LEVELS.join(', ')} (default: ${level})`,
      listOption(choiceOption(OPTIMIZATION_LEVELS)),
    )
    .option(
      '--execution-mode <mode,...>',
      `sequential: one kernel after another; parallel: kernels that do not depend on each other at the same time (default: ${mode})`,
      listOption(choiceOption(EXECUTION_MODES)),
    )
    .option(
      '--inter-op-threads <n,...>',
      `kernels that run at the same time at most, in execution mode parallel (default: ${atATime})`,
      listOption(numberOption(interOpThreadsField)),
    )
    .option(
      '--session <key=value>',
      "key of the runtime's session, as in session.disable_prepacking=1; may be repeated",
      sessionOption,
    );
}

/** The settings of a command that runs models once. @throws PlatformError `usage` for an option with several values */
export function parseRuntime(options: RuntimeAxes): RuntimeSettings {
  const [runtime = DEFAULT_RUNTIME, ...others] = combineRuntimes(options);
  if (others.length === 0) return runtime;
  throw new PlatformError(
    'usage',
    'this command runs models with one combination of settings; give each option one value',
  );
}

export function addSweepOptions(command: Command): Command {
  return addRuntimeOptions(command)
    .option(
      '--batch <n,...>',
      `sizes of the batch dimension, as in 1,2,4 (default: ${COMMAND_DEFAULTS.batch})`,
      listOption(numberOption(batchSizeField)),
    )
    .option(
      '--threads <n,...>',
      `numbers of the runtime's threads, as in 1,2 (default: ${COMMAND_DEFAULTS.threads})`,
      listOption(numberOption(threadsSchema)),
    );
}

export function addInputOptions(command: Command): Command {
  return addInputValues(
    command.option(
      '--dimension <name=value>',
      'size of a named dimension, as in seq=128; may be repeated',
      dimensionOption,
    ),
  );
}

export function addSweepInputOptions(command: Command): Command {
  return addInputValues(
    command.option(
      '--dimension <name=value,...>',
      'sizes of a named dimension, as in seq=64,128; may be repeated',
      dimensionsOption,
    ),
  );
}

function addInputValues(command: Command): Command {
  return command.option(
    '--input <name=value>',
    "values of an input instead of made-up ones: a number, numbers with commas, LOW..HIGH, or a NumPy array's file (.npy); may be repeated",
    inputOption,
  );
}

function inputOption(text: string, before: ReadonlyMap<string, GivenText> = new Map()): ReadonlyMap<string, GivenText> {
  const [, name, value = ''] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  const given = parseGivenText(value);
  if (name === undefined || given === undefined) {
    throw new InvalidArgumentError(
      'expected NAME=VALUE, for example lengths=127, ids=0..999, mask=1,1,0 or mask=mask.npy',
    );
  }
  return new Map([...before, [name, given]]);
}

export function addProtocolOptions(command: Command, byDefault: Protocol = DEFAULT_PROTOCOL): Command {
  return command
    .option(
      '--runs <n>',
      `timed runs per benchmark (default: ${byDefault.runs})`,
      numberOption(protocolSchema.shape.runs),
    )
    .option(
      '--warmup <n>',
      `warm-up runs before the timed runs (default: ${byDefault.warmupRuns})`,
      numberOption(protocolSchema.shape.warmupRuns),
    );
}

export function askedProtocol(
  { runs: asked, warmup }: ProtocolOptions,
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

export function addStoreOption(command: Command): Command {
  return command.option('--store <uri>', storeDescription('measurements'));
}

/** Explains `--server` instead of refusing it as unknown: users may name an agent as other commands name a server. */
function refuseServer(): never {
  throw new InvalidArgumentError(
    "--server names the platform's server, as in 'mlmodelscope evaluate'; name the agent with --agent",
  );
}

export function addAllowVersionOption(command: Command): Command {
  return command.option(
    '--allow-version',
    'run models on other versions of the framework than their manifests ask for',
  );
}

/** For commands that run models. @param does verb for the agent's work in the help text */
export function addAgentOptions(command: Command, does?: 'measures' | 'predicts'): Command {
  return addAllowVersionOption(addAgentPlaceOptions(command, does));
}

export function addAgentPlaceOptions(command: Command, does: 'measures' | 'predicts' = 'measures'): Command {
  const framework = `framework of the agent that is started on this machine (default: ${DEFAULT_FRAMEWORK})`;
  if (!command.options.some(({ long }) => long === '--server')) {
    command.addOption(new Option('--server <host:port>').argParser(refuseServer).hideHelp());
  }
  return command
    .option('--agent <host:port>', `agent that ${does} (default: start one on this machine)`)
    .addOption(new Option('--framework <name>', framework).choices(FRAMEWORK_NAMES));
}

/** For every command that shows a table. @param row what a row is about */
export function addTableOptions(command: Command, row = 'model'): Command {
  return command
    .option(
      '--export-json <file>',
      'write the whole result; - is standard output, the table then goes to standard error',
    )
    .option('--export-csv <file>', `write one row per ${row}`)
    .option('--export-markdown <file>', 'write all columns and the summary')
    .option('--export-html <file>', 'write a page for browsers, with charts; it is one file and loads nothing else');
}

export function addWideOption(command: Command): Command {
  return command.option('--wide', 'show all columns');
}

export function addQuietOption(command: Command): Command {
  return command.option('--quiet', 'no progress and no table; errors and warnings only');
}

const sizeOption = numberOption(dimensionSizeField);

function collected<T>(parse: (text: string) => T) {
  return (text: string, bound: ReadonlyMap<string, T> = new Map()): ReadonlyMap<string, T> => {
    const [, name, value] = /^([^=]+)=(\S+)$/.exec(text) ?? [];
    if (name === undefined || value === undefined) {
      throw new InvalidArgumentError('expected NAME=VALUE, for example sequence=128');
    }
    if (name === 'batch') throw new InvalidArgumentError('the size of the batch is given with --batch');
    return new Map([...bound, [name, parse(value)]]);
  };
}

/** Parses NAME=VALUE, the size of a symbolic dimension, collected over several uses of the option. */
export const dimensionOption = collected(sizeOption);

/** The same for commands that run once for each of several sizes, NAME=VALUE,VALUE. */
const dimensionsOption = collected(listOption(sizeOption));

export interface LogOption {
  readonly log?: string;
}

/** 'compare' and 'doctor' tell a log from a document of results by its name. */
function logOption(path: string): string {
  if (!isManifestPath(path)) throw new InvalidArgumentError('name a file that ends in .yml');
  return path;
}

export function addLogOption(command: Command): Command {
  return command.option(
    '--log <file>',
    "write a reference log (.yml), which 'mlmodelscope reproduce' runs again; runs each whole model once more for its outputs",
    logOption,
  );
}

export interface ReuseOptions {
  readonly remeasure?: string;
}

function remeasureOption(text: string): string {
  if (parseRemeasure(text) === undefined) throw new InvalidArgumentError(`expected ${REMEASURE_WORDS}`);
  return text;
}

export function addReuseOptions(command: Command): Command {
  return command
    .option(
      '--remeasure <which>',
      'stored measurements to take again: all, disturbed (by other processes), failed, older-than:7d, none (default: disturbed ones, while the machine is quiet)',
      remeasureOption,
    )
    .addOption(
      new Option('--fresh', 'measure everything anew: the same as --remeasure all').implies({ remeasure: 'all' }),
    )
    .hook('preAction', (_this, called) => {
      if (called.opts()['fresh'] !== true || called.getOptionValueSource('remeasure') === 'implied') return;
      throw new PlatformError('usage', '--fresh is the same as --remeasure all; leave one of the two out');
    });
}
