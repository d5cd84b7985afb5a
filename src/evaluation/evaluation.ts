import type { z } from 'zod';
import type { AgentDescription } from '../agent/agent-description.js';
import type { BenchmarkAgent } from '../agent/benchmark-agent.js';
import type { TableResult } from '../base/exporters/exporter.js';
import type { Page } from '../base/exporters/page.js';
import type { EstimatedBricks } from '../measurement/estimated-bricks.js';
import type { LoadedEvaluation } from '../registry/load-evaluation.js';
import type { ResultStore } from '../store/result-store.js';
import type { EvaluationEvent } from './event.js';

export interface EvaluationRequest<Settings = unknown> {
  readonly evaluation: LoadedEvaluation;
  readonly settings: Settings;
}

export interface EvaluationContext {
  readonly agent: BenchmarkAgent;
  /** The platform closes the agent and the store. */
  readonly store: ResultStore;
  readonly signal: AbortSignal;
}

/** In milliseconds, null where unknown. */
export interface Achieved {
  readonly latency_ms: number | null;
  readonly low_ms: number | null;
  readonly high_ms: number | null;
  readonly whole_ms: number | null;
  readonly parts?: EstimatedBricks | undefined;
}

export interface ShowOptions {
  readonly wide: boolean;
}

export interface ShownResult {
  readonly result: () => TableResult;
  /** For browsers; without it, a page has the table alone. */
  readonly page?: () => Page;
  /** @param options.width columns of the terminal; undefined where there is none */
  readonly text: (options: { readonly color: boolean; readonly width: number | undefined }) => string;
}

/**
 * Runs the evaluation manifests whose `plugin` is its name. After a crash, an evaluation may run again from the start,
 * so store expensive results at once.
 */
export interface Evaluation<Settings = unknown> {
  readonly name: string;
  readonly version: string;
  readonly settings: z.ZodType<Settings>;
  /** The combinations of a matrix in its settings, each as a request without one. */
  cells?(request: EvaluationRequest<Settings>, agent: AgentDescription): readonly EvaluationRequest<Settings>[];
  /** For a log: each combination by the names of models; by default, the estimates. */
  readonly achieved?: (result: unknown) => readonly ReadonlyMap<string, Achieved>[] | undefined;
  /**
   * Yields events as they happen, `done` last. The platform asks for the next event when it has stored the previous
   * one. A thrown error ends the evaluation with its message; that of a PlatformError includes the remedy.
   */
  run(request: EvaluationRequest<Settings>, context: EvaluationContext): AsyncIterable<EvaluationEvent>;
  /** undefined for a document that this version does not understand. By default, clients show the estimates. */
  readonly show?: (result: unknown, options: ShowOptions) => ShownResult | undefined;
  /** On one scale; undefined where it does not understand one of them. */
  readonly showTogether?: (results: readonly unknown[], options: ShowOptions) => ShownResult | undefined;
}
