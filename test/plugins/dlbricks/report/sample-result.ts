import type { Estimate, Missing } from '../../../../plugins/dlbricks/estimate/compose.js';
import type { Costs, EstimateResult, ModelResult } from '../../../../plugins/dlbricks/report/evaluation-result.js';
import type { ReportSettings } from '../../../../plugins/dlbricks/report/report.js';
import type { Measurement, Outcome } from '../../../../src/measurement/measurement.js';
import { PROTOCOL, sampleMeasurement, signatureOf, SYSTEM } from '../../../store/sample-measurement.js';

export const SETTINGS: ReportSettings = { cut: 'layer', granularity: 2, batch: 1, protocol: PROTOCOL };

export const FAILURE = { kind: 'failure', reason: 'timeout', message: 'no end after 60 s' } as const satisfies Outcome;

export const MISSING: Missing = {
  signature: signatureOf(9),
  operators: ['Conv', 'Relu'],
  shapes: ['1x3x8x8', '4x3x3x3'],
  count: 3,
  reason: 'crashed: gone',
};

/** A measurement whose runs all took this many ms, or with this outcome. */
export function measurementOf(result: number | Outcome, costMs = 0): Measurement {
  const outcome: Outcome =
    typeof result === 'number'
      ? { kind: 'samples', runMs: Array.from({ length: 5 }, () => result), warmupMs: [] }
      : result;
  return sampleMeasurement(0, { outcome, costMs });
}

export function estimateOf(name: string, ms: number, changes: Partial<Estimate> = {}): Estimate {
  return {
    name,
    layers: 8,
    sequences: 4,
    uniqueBricks: 2,
    coverage: 1,
    isWhole: (changes.coverage ?? 1) === 1,
    madeUpValues: undefined,
    sequential: { ms, lowMs: ms - 1, highMs: ms + 1 },
    parallel: { ms: ms / 2, lowMs: ms / 2, highMs: ms / 2 },
    longestPath: [0, 2],
    placed: ['Conv', 'Relu', 'Gemm', 'Add'].map((operator, index) => {
      return { kernels: [`k${index}`], operators: [operator], ms: index + 1, isPredicted: false };
    }),
    edges: [
      [0, 1],
      [0, 2],
      [1, 3],
      [2, 3],
    ],
    measuringError: undefined,
    leastError: undefined,
    predictedMs: 0,
    margins: [],
    parts: [],
    blocks: [],
    missing: [],
    ...changes,
  };
}

/** The two measurements of a whole model. The first costs `costMs`, and the repeat half of it. */
export function endToEndOf(
  index: number,
  first: number | Outcome | undefined,
  costMs: number,
  repeat: number | Outcome | undefined,
): NonNullable<ModelResult['endToEnd']> {
  return {
    signature: signatureOf(100 + index),
    first: first === undefined ? undefined : measurementOf(first, costMs),
    repeat: repeat === undefined ? undefined : measurementOf(repeat, costMs / 2),
  };
}

/** Wall times in ms. Some phases have a part that the store had already. */
export const COSTS: Costs = {
  readingMs: 250,
  preparingMs: 500,
  preparingOfModelsMs: [250, 250, 250],
  bricksFirst: { nowMs: 3000, beforeMs: 250 },
  bricksAgain: { nowMs: 1500, beforeMs: 0 },
  modelsFirst: { nowMs: 6000, beforeMs: 1750 },
  modelsAgain: { nowMs: 3500, beforeMs: 0 },
};

export function resultOf(models: readonly ModelResult[], changes: Partial<EstimateResult> = {}): EstimateResult {
  return {
    system: SYSTEM,
    models,
    bricks: [measurementOf(1, 500), measurementOf(2, 2000), measurementOf(FAILURE, 1000)],
    spreads: { bricks: undefined, reason: undefined, wholes: new Map(), machines: undefined },
    sequences: 10,
    uniqueBricks: 4,
    measured: 3,
    interrupted: false,
    costs: COSTS,
    ...changes,
  };
}
