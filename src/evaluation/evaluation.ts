import type { z } from 'zod';
import type { BenchmarkAgent } from '../agent/benchmark-agent.js';
import type { LoadedEvaluation } from '../registry/load-evaluation.js';
import type { ResultStore } from '../store/result-store.js';
import type { EvaluationEvent } from './event.js';

/** What a plugin's evaluation is to do. */
export interface EvaluationRequest<Settings = unknown> {
  /** The manifest, and its models without their weights. Its requirements are met by the context's agent. */
  readonly evaluation: LoadedEvaluation;
  /** What the manifest has under `settings`. */
  readonly settings: Settings;
}

/** Where a plugin's evaluation runs. */
export interface EvaluationContext {
  /** What measures. Closed by the platform. */
  readonly agent: BenchmarkAgent;
  /** What was measured before, and what is to be kept. Closed by the platform. */
  readonly store: ResultStore;
  /** Aborted when the evaluation is cancelled: end soon, by return or by an error. */
  readonly signal: AbortSignal;
}

/**
 * What a plugin does with an evaluation manifest whose `plugin` is its name. It may be run again from the start after a
 * crash, so that what is expensive belongs into the store at once.
 */
export interface Evaluation<Settings = unknown> {
  /** What a manifest says under `plugin`. */
  readonly name: string;
  readonly version: string;
  /** What a manifest may have under `settings`; `z.strictObject({})` where there is nothing to set. */
  readonly settings: z.ZodType<Settings>;
  /**
   * Tells events as they happen, `done` last. The next one is asked for when the platform has kept the one before.
   * Whatever is thrown ends the evaluation with its message; a PlatformError tells its user what to do as well.
   */
  run(request: EvaluationRequest<Settings>, context: EvaluationContext): AsyncIterable<EvaluationEvent>;
}
