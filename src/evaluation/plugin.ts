import type { Command } from 'commander';
import type { BenchmarkAgent } from '../agent/benchmark-agent.js';
import type { FrameworkName } from '../predictor/frameworks.js';
import type { LoadedModel, LoadOptions } from '../registry/load-model.js';
import type { ResultStore } from '../store/result-store.js';
import type { Analysis } from './analysis.js';
import type { Evaluation } from './evaluation.js';

/** Shows the progress of a command. Without a terminal it shows only notes and warnings. */
export interface Progress {
  /**
   * Shows a bar: `done` of `total`, with `label` as the current item.
   *
   * @param secondsLeft by default estimated from the progress so far
   */
  step(title: string, done: number, total: number, label: string, secondsLeft?: number): void;
  /** Progress of the current step, in a few words. */
  within(detail: string): void;
  /** Prints a line, unless the user chose quiet. */
  note(line: string): void;
  /** Prints a line, also with quiet. */
  warn(line: string): void;
  /** Removes the bar. It may be called twice. */
  stop(): void;
}

/** The platform's services for a plugin's command. */
export interface CommandHost {
  /** Aborted by Ctrl-C or a termination signal. */
  readonly signal: AbortSignal;
  /** Whether standard output may be coloured. */
  readonly color: boolean;
  /** Columns of the terminals of standard output and standard error; undefined where there is no terminal. */
  readonly columns?: { readonly out: number | undefined; readonly err: number | undefined };
  /** Writes to standard output. */
  print(text: string): void;
  /** Writes a line to standard error. */
  warn(line: string): void;
  /** @param quiet shows nothing but warnings */
  progress(quiet: boolean): Progress;
  /**
   * An agent at `server`, or one that is started on loopback; closed when the command ends.
   *
   * @param framework the framework of an agent on loopback
   * @throws PlatformError `usage` for a framework together with a server: the agent there has its own
   */
  connect(server: string | undefined, framework?: FrameworkName): Promise<BenchmarkAgent>;
  /**
   * The store at `uri`, or the user's own; closed when the command ends. A command that changes nothing opens it to
   * read: then a named store that does not exist is an error, and a store that cannot be written is accepted.
   */
  openStore(uri: string | undefined, options?: { readonly access: 'read' }): Promise<ResultStore>;
  loadModel(reference: string, options: LoadOptions): Promise<LoadedModel>;
  /** Sets the exit code for the end of the command; 0 without a call. */
  setExitCode(code: 0 | 3 | 4 | 130): void;
}

/** A plugin, the default export of `plugins/NAME/index.ts`. */
export interface Plugin {
  readonly name: string;
  readonly version: string;
  /** Runs manifests whose `plugin` is its name. */
  readonly evaluation?: Evaluation;
  /** Its analyses for `mlmodelscope analyze`. */
  readonly analyses?: readonly Analysis[];
  /** Adds its subcommand to the platform's command. */
  registerCommand?(program: Command, host: CommandHost): void;
}
