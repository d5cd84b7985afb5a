import { type MachineSpread, type Measurement, type System, latencyOfOutcome } from '../../../src/plugin-api.js';
import type { PreparedModel } from '../bricks/prepare-model.js';
import type { ModelCheck } from '../estimate/compare-kernels.js';
import type { Margin } from '../estimate/interval.js';
import type { Estimate } from '../estimate/compose.js';
import type { SystemSpreads } from '../estimate/spreads-of-system.js';
import type { LimitedBy } from '../measure/next-occasion.js';

/** Whole-model latency as measured; undefined where an interruption came first. */
export interface EndToEnd {
  readonly signature: string;
  readonly first: Measurement | undefined;
  readonly repeat: Measurement | undefined;
}

export interface ModelResult extends Pick<PreparedModel, 'runWith' | 'kernelCheck' | 'inputs' | 'extension' | 'graph'> {
  readonly estimate: Estimate;
  /** Half the widths of its interval by the spreads of the other half of the models; undefined where these are few. */
  readonly crossChecked?: readonly Margin[] | undefined;
  /** undefined where whole models were not asked for. */
  readonly endToEnd: EndToEnd | undefined;
  /** undefined where this run did not decide it, or it is not known. */
  readonly limitedBy?: LimitedBy | undefined;
  /** Kernels of the runtime's optimized graph; undefined at the layer cut. */
  readonly kernels?: number | undefined;
  readonly check?: ModelCheck | undefined;
}

export interface MeasuringCost {
  /** Wall time of this run, with sessions, warm-ups and dropped runs; ms. */
  readonly nowMs: number;
  /** Wall time of the measurements that the store had already; ms. */
  readonly beforeMs: number;
}

export interface Costs {
  /** Wall time before anything was prepared: starting, and reading the models; ms. */
  readonly readingMs: number;
  /** Wall time of optimizing the graphs in the runtime and of cutting them; ms. */
  readonly preparingMs: number;
  /** The same of each model that could be read, in their order; several are prepared at a time. */
  readonly preparingOfModelsMs: readonly number[];
  readonly bricksFirst: MeasuringCost;
  readonly bricksAgain: MeasuringCost;
  readonly modelsFirst: MeasuringCost;
  readonly modelsAgain: MeasuringCost;
  /** Wall time that other processes cost, by waiting for them and by taking disturbed measurements again; ms. */
  readonly delayMs?: number | undefined;
  /** Wall time of checking the bricks against runs of the whole graphs, ms; undefined where that was not asked for. */
  readonly checkMs?: number | undefined;
}

export interface EstimateResult {
  readonly system: System;
  readonly models: readonly ModelResult[];
  readonly bricks: readonly Measurement[];
  readonly unchanged?: readonly string[];
  readonly spreads: SystemSpreads;
  readonly machines?: MachineSpread | undefined;
  readonly sequences: number;
  readonly uniqueBricks: number;
  readonly measured: number;
  readonly interrupted: boolean;
  readonly costs: Costs | undefined;
}

/** The mean over both occasions, as for a brick; that of the first alone before the second. In ms; null without any. */
export function wholeLatency(endToEnd: EndToEnd | undefined): number | null {
  const first = latencyOfOutcome(endToEnd?.first?.outcome);
  const repeat = latencyOfOutcome(endToEnd?.repeat?.outcome);
  return first === null || repeat === null ? first : (first + repeat) / 2;
}
