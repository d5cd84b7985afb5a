import {
  type BenchmarkAgent,
  type Limits,
  type LoadedModel,
  type Protocol,
  type RunOptions,
  type UnusableModel,
} from '../../src/plugin-api.js';
import { granularityOf } from './bricks/prepare-model.js';
import { evaluate } from './evaluate.js';
import type { MeasuringContext } from './measure/measure-all.js';
import type { EstimateResult } from './report/evaluation-result.js';
import type { Remeasure } from './measure/remeasure.js';
import { type Report, reportOf } from './report/report.js';
import type { Settings } from './settings.js';

/** What to estimate, from a command line or from a manifest on a server. */
export interface Estimation {
  readonly models: readonly LoadedModel[];
  /** Further ones, which could not be read. */
  readonly unusable?: readonly UnusableModel[] | undefined;
  readonly settings: Settings;
  readonly threads: number;
  readonly batch: number;
  readonly protocol: Protocol;
  readonly limits: Limits;
  /** Which stored measurements are taken again. */
  readonly remeasure?: Remeasure | undefined;
  /** When it began, by performance.now(). */
  readonly startMs: number;
}

/** Settings of every session of an evaluation. */
export function runOptionsOf(threads: number): RunOptions {
  return { threads, executionProvider: 'cpu', optimizationLevel: 'all' };
}

/** Warns of settings that make latencies vary, before anything is measured. */
async function warnOfThreads(threads: number, agent: BenchmarkAgent, tell: MeasuringContext['onEvent']): Promise<void> {
  const { cores } = await agent.system(runOptionsOf(threads));
  if (threads <= cores) return;
  const message = `${threads} threads on ${cores} cores: latencies will vary more; ask for fewer with --threads or \`threads\``;
  tell({ kind: 'note', level: 'warning', message });
}

/**
 * Measures the missing bricks, composes and reports, for `dlbricks run`, `dlbricks validate` and evaluations on a
 * server.
 */
export async function runEstimation(
  { models, unusable, settings, threads, batch, protocol, limits, remeasure, startMs }: Estimation,
  context: MeasuringContext,
): Promise<{ readonly result: EstimateResult; readonly report: Report }> {
  const { agent } = context;
  await warnOfThreads(threads, agent, context.onEvent);
  const { cut, granularity, measure_end_to_end: measureEndToEnd } = settings;
  const precision = { targetError: settings.target_error / 100, repeatLimit: settings.repeat_limit };
  const result = await evaluate(
    {
      models,
      unusable,
      cut,
      granularity,
      runOptions: runOptionsOf(threads),
      protocol,
      limits,
      measureEndToEnd,
      precision,
      remeasure,
      readingMs: performance.now() - startMs,
    },
    context,
  );
  const report = reportOf(result, {
    cut,
    granularity: granularityOf(settings, await agent.measuresTogether()),
    batch,
    protocol,
    targetError: cut === 'kernel' ? precision.targetError : undefined,
  });
  return { result, report };
}
