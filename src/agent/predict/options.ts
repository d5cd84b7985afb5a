import { PlatformError } from '../../base/errors.js';
import type { PredictionOptions } from '../../generated/mlmodelscope/org/dlframework/predictor.js';
import type { PredictionModel } from '../../registry/prediction-model.js';
import { TRACE_LEVELS, type TraceLevel } from '../../tracing/trace-level.js';
import { activeTracing } from '../../tracing/tracing.js';

/** Time limit of a call that sets none or a longer one. */
const MAX_TIME_MS = 10 * 60_000;

/** Most elements of a batch that a client may ask for. */
export const MAX_BATCH_SIZE = 1024;

const MAX_ID_LENGTH = 1024;

export interface PredictOptions {
  readonly requestId: string;
  readonly traceId: string;
  /** 0 for as many features as the manifest says. */
  readonly featureLimit: number;
  /** 0 for the default. */
  readonly batchSize: number;
  readonly traceLevel: TraceLevel;
  readonly timeLimitMs: number;
}

function checkedNumber(value: number, max: number, name: string): number {
  if (value >= 0 && value <= max) return value;
  throw new PlatformError('usage', `options.${name} is ${value}; give a number from 0 to ${max}`);
}

/** Unset options are those of opening. @throws PlatformError `usage` (invalid), `unsupported` (a missing device) */
export function parsePredictOptions(message: PredictionOptions | undefined, opened?: PredictOptions): PredictOptions {
  const { requestId = '', featureLimit = 0, batchSize = 0, executionOptions } = message ?? {};
  const devices = Object.entries(executionOptions?.deviceCount ?? {});
  const other = devices.find(([device, count]) => count > 0 && device.toUpperCase() !== 'CPU');
  if (other !== undefined) {
    const device = other[0].slice(0, 100);
    throw new PlatformError('unsupported', `the request asks for a ${device}; this agent runs models on the processor`);
  }
  // The platform's number of a level is its index in the list.
  const levelNumber: number = executionOptions?.traceLevel ?? 0;
  const traceLevel = TRACE_LEVELS.find((_, number) => number === levelNumber);
  if (traceLevel === undefined) throw new PlatformError('usage', 'options.execution_options.trace_level is unknown');
  const traceId = executionOptions?.traceId?.id ?? '';
  if (Math.max(requestId.length, traceId.length) > MAX_ID_LENGTH) {
    throw new PlatformError('usage', `an id in options has more than ${MAX_ID_LENGTH} letters`);
  }
  const askedMs = Number(executionOptions?.timeoutInMs ?? 0n);
  return {
    requestId,
    traceId,
    featureLimit: checkedNumber(featureLimit, 2 ** 31 - 1, 'feature_limit') || (opened?.featureLimit ?? 0),
    batchSize: checkedNumber(batchSize, MAX_BATCH_SIZE, 'batch_size') || (opened?.batchSize ?? 0),
    traceLevel: traceLevel === 'NO_TRACE' ? (opened?.traceLevel ?? traceLevel) : traceLevel,
    timeLimitMs: askedMs === 0 ? (opened?.timeLimitMs ?? MAX_TIME_MS) : Math.min(askedMs, MAX_TIME_MS),
  };
}

/** @throws PlatformError `usage` where the model takes no batches of that size */
export function batchSizeFor({ name, fixedBatchSize }: PredictionModel, asked: number): number {
  if (fixedBatchSize === undefined) return asked === 0 ? 1 : asked;
  if (asked === 0 || asked === fixedBatchSize) return fixedBatchSize;
  throw new PlatformError(
    'usage',
    `options.batch_size is ${asked}, but the batch of ${name} is fixed at ${fixedBatchSize}`,
  );
}

/** Makes spans down to the level that the client asks for, by default that of its trace. */
export function traceAtLevel<T>({ traceLevel }: PredictOptions, work: () => T): T {
  const tracing = traceLevel === 'NO_TRACE' ? undefined : activeTracing();
  return tracing === undefined ? work() : tracing.atLevel(traceLevel, work);
}
