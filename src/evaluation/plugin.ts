import type { Command } from 'commander';
import type { BenchmarkAgent } from '../agent/benchmark-agent.js';
import type { FrameworkName } from '../predictor/frameworks.js';
import type { LoadedModel, LoadOptions } from '../registry/load-model.js';
import type { ResultStore } from '../store/result-store.js';
import type { Analysis } from './analysis.js';
import type { Evaluation } from './evaluation.js';

/** Shows how far a command is; on anything but a terminal only notes are shown. */
export interface Progress {
  /** Something countable is under way: `done` of `total`, now busy with `label`. */
  step(title: string, done: number, total: number, label: string): void;
  /** How far the current step is, in a few words. */
  within(detail: string): void;
  /** A line that stays, unless the user wants quiet. */
  note(line: string): void;
  /** A line that stays in any case. */
  warn(line: string): void;
  /** Takes the bar away. Safe to call twice. */
  stop(): void;
}

/** What a plugin's command gets from the platform. */
export interface CommandHost {
  /** Aborted by Ctrl-C or a termination signal. */
  readonly signal: AbortSignal;
  /** Whether standard output may be coloured. */
  readonly color: boolean;
  /** Columns of the terminals that standard output and standard error are, where they are terminals. */
  readonly columns?: { readonly out: number | undefined; readonly err: number | undefined };
  /** Writes to standard output. */
  print(text: string): void;
  /** Writes a line to standard error. */
  warn(line: string): void;
  /** @param quiet shows nothing */
  progress(quiet: boolean): Progress;
  /**
   * An agent at `server`, or one that is started on loopback; closed when the command ends.
   *
   * @param framework what the latter runs models with
   * @throws PlatformError `usage` for a framework where there is a server, which has its own
   */
  connect(server: string | undefined, framework?: FrameworkName): Promise<BenchmarkAgent>;
  /**
   * The store at `uri`, or the user's own; closed when the command ends. A command that changes nothing opens it to read:
   * then a store that is named and not there is an error, and one that cannot be written to will do.
   */
  openStore(uri: string | undefined, options?: { readonly access: 'read' }): Promise<ResultStore>;
  loadModel(reference: string, options: LoadOptions): Promise<LoadedModel>;
  /** What the process exits with when the command is done; 0 without a call. */
  setExitCode(code: 0 | 3 | 130): void;
}

/** A plugin, the default export of `plugins/NAME/index.ts`. */
export interface Plugin {
  readonly name: string;
  readonly version: string;
  /** What it does with manifests whose `plugin` is its name. */
  readonly evaluation?: Evaluation;
  /** What `mlmodelscope analyze` offers under its name. */
  readonly analyses?: readonly Analysis[];
  /** Adds its subcommand to the platform's command. */
  registerCommand?(program: Command, host: CommandHost): void;
}
