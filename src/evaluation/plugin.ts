import type { Command } from 'commander';
import type { BenchmarkAgent } from '../agent/benchmark-agent.js';
import type { FrameworkName } from '../predictor/frameworks.js';
import type { ReadingOptions, SizedModel } from '../registry/load-model.js';
import type { ResultStore } from '../store/result-store.js';
import type { Analysis } from './analysis.js';
import type { Evaluation } from './evaluation.js';

export interface Progress {
  /** @param secondsLeft null where unknown; by default estimated once a quarter is done */
  step(title: string, done: number, total: number, label: string, secondsLeft?: number | null): void;
  within(detail: string): void;
  note(line: string): void;
  warn(line: string): void;
  stop(): void;
}

export interface CommandHost {
  /** Aborted by Ctrl-C or a termination signal. */
  readonly signal: AbortSignal;
  readonly color: boolean;
  readonly columns?: { readonly out: number | undefined; readonly err: number | undefined };
  print(text: string): void;
  warn(line: string): void;
  progress(quiet: boolean): Progress;
  /**
   * The agent at `server`, or one on loopback; closed when the command ends.
   *
   * @param packageFolder of another package of the framework than the installed one
   * @throws PlatformError `usage` for a framework together with a server: the agent there has its own
   */
  connect(server: string | undefined, framework?: FrameworkName, packageFolder?: string): Promise<BenchmarkAgent>;
  /**
   * The store at `uri`, or the user's own; closed when the command ends. With access to read, a named store has to
   * exist, and may be one that cannot be written.
   */
  openStore(uri: string | undefined, options?: { readonly access: 'read' }): Promise<ResultStore>;
  readModel(reference: string, options: ReadingOptions): Promise<SizedModel>;
  setExitCode(code: 0 | 3 | 4 | 130): void;
}

export interface Plugin {
  readonly name: string;
  readonly version: string;
  readonly evaluation?: Evaluation;
  readonly analyses?: readonly Analysis[];
  registerCommand?(program: Command, host: CommandHost): void;
}
