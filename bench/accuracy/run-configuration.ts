import { evaluate } from '../../plugins/dlbricks/evaluate.js';
import type { EstimateResult } from '../../plugins/dlbricks/report/evaluation-result.js';
import type { EstimateEvent } from '../../plugins/dlbricks/measure/measure-all.js';
import { type Report, reportOf } from '../../plugins/dlbricks/report/report.js';
import type { BenchmarkAgent } from '../../src/agent/benchmark-agent.js';
import { loadModel } from '../../src/registry/load-model.js';
import type { ResultStore } from '../../src/store/result-store.js';
import type { Configuration } from './configurations.js';
import type { Growth } from './plots.js';

/** As `dlbricks validate` has them; a test holds them to that. */
export const SETTINGS = { cut: 'kernel', granularity: 64 } as const;
export const PRECISION = { targetError: 0.05, mostRepetition: 1 } as const;
export const PROTOCOL = {
  warmupRuns: 3,
  runs: 50,
  minRuns: 10,
  timeBudgetMs: 5000,
  occasion: 1,
  timeLimitMs: 120_000,
  memoryLimitBytes: 8 * 2 ** 30,
} as const;

export interface Outcome {
  readonly configuration: Configuration;
  readonly report: Report;
  readonly growth: readonly Growth[];
  /** Preparing all models: building, and having the runtime optimize them, where no cache has them; seconds. */
  readonly preparingSeconds: number;
  /** Largest resident memory of the measuring process for a whole model, and for a brick. */
  readonly wholePeakBytes: number;
  readonly brickPeakBytes: number;
}

export interface Place {
  readonly agent: BenchmarkAgent;
  readonly store: ResultStore;
  readonly signal: AbortSignal;
  readonly onEvent: (event: EstimateEvent) => void;
}

/** What measuring had cost after each model, had they come one by one. */
function growthOf({ models }: EstimateResult): readonly Growth[] {
  const seen = new Set<string>();
  let [wholeMs, brickMs] = [0, 0];
  return models.map(({ estimate, endToEnd }) => {
    wholeMs += (endToEnd?.first?.costMs ?? 0) + (endToEnd?.repeat?.costMs ?? 0);
    for (const { signature, costMs } of estimate.parts) {
      if (!seen.has(signature)) brickMs += costMs;
      seen.add(signature);
    }
    return { model: estimate.name, wholeSeconds: wholeMs / 1000, brickSeconds: brickMs / 1000 };
  });
}

/** @throws PlatformError as `evaluate` does */
export async function runConfiguration(
  configuration: Configuration,
  { agent, store, signal, onEvent }: Place,
): Promise<Outcome> {
  const { threads, batch } = configuration;
  const startMs = performance.now();
  let preparingSeconds = 0;
  const models = [];
  for (const { reference } of configuration.models) models.push(await loadModel(reference, { batch, signal }));
  const runOptions = { threads, executionProvider: 'cpu', optimizationLevel: 'all' } as const;
  const request = {
    models,
    ...SETTINGS,
    runOptions,
    protocol: PROTOCOL,
    measureEndToEnd: true,
    precision: PRECISION,
  };
  const result = await evaluate(request, {
    agent,
    store,
    signal,
    onEvent: (event) => {
      if (event.kind === 'planned') preparingSeconds = (performance.now() - startMs) / 1000;
      onEvent(event);
    },
  });
  const wholes = result.models.flatMap(({ endToEnd }) => endToEnd?.first?.peakMemoryBytes ?? []);
  return {
    configuration,
    report: reportOf(result, { ...SETTINGS, batch, protocol: PROTOCOL, targetError: PRECISION.targetError }),
    growth: growthOf(result),
    preparingSeconds,
    wholePeakBytes: Math.max(0, ...wholes),
    brickPeakBytes: Math.max(0, ...result.bricks.map(({ peakMemoryBytes }) => peakMemoryBytes)),
  };
}
