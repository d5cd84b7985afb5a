import type { Measurement, System } from '../../../src/plugin-api.js';
import type { Estimate } from '../estimate/compose.js';
import type { Spread } from '../estimate/statistics.js';
import type { LimitedBy } from '../measure/next-occasion.js';

/** Whole-model latency as measured; undefined where an interruption came first. */
export interface EndToEnd {
  /** The whole model's. */
  readonly signature: string;
  readonly first: Measurement | undefined;
  /** The same once more, after everything else. */
  readonly repeat: Measurement | undefined;
}

/** One model's estimate, and what it is held against. */
export interface ModelResult {
  readonly estimate: Estimate;
  /** undefined where whole models were not asked for. */
  readonly endToEnd: EndToEnd | undefined;
  /** Why its bricks were measured no further; undefined where nobody decided that now, or nothing is known. */
  readonly limitedBy?: LimitedBy | undefined;
  /** Kernels of the runtime's optimized graph; undefined at the layer cut. */
  readonly kernels?: number | undefined;
}

export interface EstimateResult {
  readonly system: System;
  readonly models: readonly ModelResult[];
  /** Measurements, failed ones too, of the bricks that the estimates are made of. */
  readonly bricks: readonly Measurement[];
  /** How far occasions of measuring one brick are apart; undefined where none was measured twice. */
  readonly spread: Spread | undefined;
  /** Sequences and different bricks of all models together. */
  readonly sequences: number;
  readonly uniqueBricks: number;
  /** How many measurements were taken now; the others were in the store. */
  readonly measured: number;
  /** Stopped before everything that was planned was measured. */
  readonly interrupted: boolean;
}
