import type { FrameworkConstraint } from '../manifest/fields.js';
import type { System } from '../measurement/system.js';
import type { TraceLevel } from '../tracing/trace-level.js';

export interface EvaluatedModel {
  readonly name: string;
  /** As the model's manifest writes them; undefined for a model without a manifest. */
  readonly manifest?: { readonly version: string; readonly framework: FrameworkConstraint | undefined } | undefined;
  readonly batchSize: number;
  /** Of other named dimensions, as in `seq=128, past=0`; undefined where not known. */
  readonly dimensions?: string | undefined;
}

export interface EvaluatedLayer {
  readonly name: string;
  readonly opName: string;
  /** Such as [1,64,56,56]. */
  readonly shape: string;
  readonly durationMs: number;
}

export interface EvaluatedRun {
  readonly durationMs: number;
  /** In order of execution; none where layers were not traced. */
  readonly layers: readonly EvaluatedLayer[];
}

/** Runs of one model at one level of tracing. */
export interface Evaluated {
  /** Decides the documents' identifiers. */
  readonly id: string;
  readonly runId: string;
  readonly model: EvaluatedModel;
  readonly system: System;
  readonly host: string;
  /** Of the last run, ISO 8601. */
  readonly endedAt: string;
  readonly level: Extract<TraceLevel, 'MODEL_TRACE' | 'FRAMEWORK_TRACE'>;
  readonly warmupMs: readonly number[];
  readonly runs: readonly EvaluatedRun[];
  /** By default made-up values. */
  readonly dataset?: { readonly category: string; readonly name: string } | undefined;
  readonly inputPredictionIds?: readonly string[] | undefined;
  readonly metadata: Readonly<Record<string, string>>;
}
