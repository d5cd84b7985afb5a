import { PlatformError } from '../../base/errors.js';
import { gigabytes } from '../../base/gigabytes.js';
import { type Benchmark, inputBytes } from '../../measurement/benchmark.js';
import type { RunOptions } from '../../measurement/system.js';
import { makeFeeds, materialize, type MaterializeOptions } from '../../predictor/materialize.js';
import { modelWithOwnWeights } from '../../predictor/model-with-own-weights.js';
import { openFilledModel } from '../../predictor/open-filled-model.js';
import type { PreparedRun, Predictor } from '../../predictor/predictor.js';
import { orRefuse } from '../failure.js';

export interface OpenBenchmark extends PreparedRun {
  close(): Promise<void>;
}

export interface OpenContext {
  readonly predictor: Predictor;
  /** See OpenFilledOptions. */
  readonly temporaryFolder: string;
}

export interface OpenBenchmarkRequest {
  readonly benchmark: Benchmark;
  readonly runOptions: RunOptions;
  readonly memoryLimitBytes: number;
}

/** @throws PlatformError `unsupported` where the weights and inputs alone exceed the limit */
export function checkMemory({ benchmark, memoryLimitBytes }: Omit<OpenBenchmarkRequest, 'runOptions'>): void {
  const leastBytes = inputBytes(benchmark.inputs);
  if (leastBytes <= memoryLimitBytes) return;
  const [least, limit] = [leastBytes, memoryLimitBytes].map(gigabytes);
  const message = `out of memory: weights and inputs alone take ${least}, the limit for the worker process is ${limit}`;
  throw new PlatformError('unsupported', message);
}

/** @throws PlatformError `unsupported` without enough memory; errors of `materialize`, `openFilledModel`, predictors */
export async function openBenchmark(
  request: OpenBenchmarkRequest,
  { predictor, temporaryFolder }: OpenContext,
  options?: MaterializeOptions,
): Promise<OpenBenchmark> {
  checkMemory(request);
  const { benchmark, runOptions } = request;
  const fillable =
    benchmark.weights === undefined
      ? materialize(benchmark, options)
      : await modelWithOwnWeights(benchmark, benchmark.weights, options);
  const model = await openFilledModel(predictor, fillable, runOptions, { temporaryFolder });
  try {
    const run = model.prepare(makeFeeds(benchmark));
    return { execute: () => run.execute(), evaluate: () => run.evaluate(), close: () => model.close() };
  } catch (error) {
    await model.close();
    throw error;
  }
}

/** A failure of the framework becomes the error of the request. @throws PlatformError `unsupported`, `model` or others */
export async function runOpened<Open extends Pick<OpenBenchmark, 'close'>, T>(
  open: () => Promise<Open>,
  run: (opened: Open) => Promise<T>,
): Promise<T> {
  const opened = await orRefuse('open', open);
  try {
    return await orRefuse('run', () => run(opened));
  } finally {
    await opened.close();
  }
}
