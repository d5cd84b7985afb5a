// `fromWire…` checks its message and throws PlatformError `usage`; the caller knows which side was wrong.
import { z } from 'zod';
import type * as wire from '../../generated/mlmodelscope/load/v1/load.js';
import { PlatformError } from '../../base/errors.js';
import { type Conditions, conditionsSchema } from '../../measurement/conditions.js';
import { type Limits, limitsSchema } from '../../measurement/protocol.js';
import { check } from '../../rpc/check-message.js';
import { fromWireDuration, toWireDuration } from '../../rpc/duration.js';
import type { ServeJob } from '../jobs/job.js';
import {
  fromWireBenchmark,
  fromWireConditions,
  fromWireRunOptions,
  toWireBenchmark,
  toWireRunOptions,
} from './benchmark-wire.js';

export const MAX_SAMPLES = 1024;

/** Most sizes of runs, each with a session of its own. */
export const MAX_SIZES = 64;

export interface ServeRequest extends Omit<ServeJob, 'kind' | 'memoryLimitBytes'> {
  readonly limits: Limits;
}

const openSchema = z.strictObject({
  name: z.string().max(1000),
  batching: z.strictObject({ limit: z.int().min(1).max(MAX_SAMPLES), waitMs: z.number().min(0).max(60_000) }),
  warmupRuns: z.int().min(0).max(1000),
  limits: limitsSchema,
});

export function toWireOpen(request: ServeRequest): wire.OpenModel {
  const { name, models, runOptions, batching, warmupRuns, limits } = request;
  return {
    name,
    models: [...models].map(([samples, benchmark]) => ({ samples, benchmark: toWireBenchmark(benchmark) })),
    runOptions: toWireRunOptions(runOptions),
    batchLimit: batching.limit,
    maxWaitMs: batching.waitMs,
    warmupRuns,
    timeLimit: toWireDuration(limits.timeLimitMs),
    memoryLimitBytes: BigInt(Math.ceil(limits.memoryLimitBytes)),
  };
}

/** @param defaultMemoryLimitBytes the limit if the message has 0 */
export function fromWireOpen(message: wire.OpenModel, defaultMemoryLimitBytes: number): ServeRequest {
  const { name, models, batchLimit, maxWaitMs, warmupRuns, timeLimit, memoryLimitBytes } = message;
  if (models.length === 0 || models.length > MAX_SIZES) {
    throw new PlatformError('usage', `models: expected 1 to ${MAX_SIZES} sizes of runs, found ${models.length}`);
  }
  const checked = check(
    openSchema,
    {
      name,
      batching: { limit: batchLimit, waitMs: maxWaitMs },
      warmupRuns,
      limits: {
        timeLimitMs: fromWireDuration(timeLimit),
        memoryLimitBytes: memoryLimitBytes === 0n ? defaultMemoryLimitBytes : Number(memoryLimitBytes),
      },
    },
    'open',
  );
  const sized = models.map(({ samples, benchmark }) => [samples, fromWireBenchmark(benchmark)] as const);
  return { ...checked, models: new Map(sized), runOptions: fromWireRunOptions(message.runOptions) };
}

export function conditionsIn({ conditions }: wire.Closed): Conditions | undefined {
  const found = fromWireConditions(conditions).conditions;
  return found === undefined ? undefined : check(conditionsSchema, found, 'conditions');
}
