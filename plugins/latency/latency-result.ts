import {
  dimensionsText,
  disturbanceOf,
  measurementWarnings,
  type Origin,
  provenanceField,
  buildProvenance,
  runtimeText,
  type System,
  trimmedMean,
  z,
  maxOf,
  minOf,
} from '../../src/plugin-api.js';
import { percentileMs, tooFewRuns } from './percentile.js';
import type { TimedModel } from './time-models.js';

const ms = z.number().nonnegative();

const configuration = {
  model: z.string(),
  batch: z.int(),
  dimensions: z.string().default('').describe('Sizes of the other named dimensions, as in seq=128, past=0'),
  threads: z.int(),
  settings: z.string().default('').describe("The runtime's settings that are not the default, in words"),
};

const timedSchema = z.strictObject({
  ...configuration,
  system: z.string().describe("The system's fingerprint, which depends on the threads"),
  runs: z.int().describe('Timed runs'),
  measured_at: z.iso.datetime().nullable().default(null).describe('null in results of earlier versions'),
  is_stored: z.boolean().default(false).describe('Whether an earlier run timed it'),
  latency_ms: z
    .record(z.string(), ms.nullable())
    .describe('Percentiles by the nearest rank, as p50; null where there are too few runs to show one'),
  not_shown: z.record(z.string(), z.string()).default({}).describe('Why a percentile is null'),
  min_ms: ms,
  trimmed_mean_ms: ms.describe('Mean without the slowest and the fastest fifth of the runs'),
  max_ms: ms,
  histogram: z
    .strictObject({ from_ms: ms, step_ms: ms, counts: z.array(z.int().min(0)) })
    .nullable()
    .default(null)
    .describe('How many runs took how long; null in results of earlier versions, and where all runs took the same'),
  tokens_per_second: z
    .number()
    .nullable()
    .default(null)
    .describe('Of decoders with a cache, from the mean; null for other models'),
  disturbance_percent: z
    .number()
    .nonnegative()
    .nullable()
    .describe("Share of the processors' time that other processes took meanwhile; null where that is not known"),
});

type TimedRow = z.infer<typeof timedSchema>;

const failedSchema = z.strictObject({
  ...configuration,
  reason: z.string().describe('Why it has no latency'),
});

export const latencyResultSchema = z.strictObject({
  provenance: provenanceField,
  processor: z.string(),
  cores: z.int(),
  framework: z.string(),
  framework_version: z.string(),
  percentiles: z.array(z.number()),
  models: z.array(z.union([timedSchema, failedSchema])),
  warnings: z.array(z.string()),
});

export type LatencyResult = z.infer<typeof latencyResultSchema>;
export type LatencyRow = LatencyResult['models'][number];

const MAX_STEPS = 24;

/** @param sorted at least one */
function buildHistogram(sorted: readonly number[]): TimedRow['histogram'] {
  const from = sorted[0] ?? 0;
  const to = sorted.at(-1) ?? 0;
  if (to <= from) return null;
  const steps = Math.min(MAX_STEPS, Math.ceil(Math.sqrt(sorted.length)) + 1);
  const step = (to - from) / steps;
  const counts = Array.from({ length: steps }, () => 0);
  for (const ms of sorted) {
    const index = Math.min(steps - 1, Math.floor((ms - from) / step));
    counts[index] = (counts[index] ?? 0) + 1;
  }
  return { from_ms: from, step_ms: step, counts };
}

function buildRow(
  { loaded, batch, threads, runtime, measurement, isStored, refusal }: TimedModel,
  percentiles: readonly number[],
): LatencyRow {
  const dimensions = dimensionsText(loaded, batch);
  const configuration = { model: loaded.name, batch, dimensions, threads, settings: runtimeText(runtime) };
  if (measurement === undefined) return { ...configuration, reason: refusal ?? 'interrupted before it was timed' };
  const { outcome, system, protocol, measuredAt } = measurement;
  if (outcome.kind === 'failure') return { ...configuration, reason: `${outcome.reason}: ${outcome.message}` };
  const sorted = outcome.runMs.toSorted((a, b) => a - b);
  const disturbance = disturbanceOf(measurement);
  return {
    ...configuration,
    system: system.fingerprint,
    runs: sorted.length,
    measured_at: measuredAt,
    is_stored: isStored,
    latency_ms: Object.fromEntries(percentiles.map((each) => [`p${each}`, percentileMs(sorted, each)])),
    not_shown: Object.fromEntries(
      percentiles
        .filter((each) => percentileMs(sorted, each) === null)
        .map((each) => [`p${each}`, tooFewRuns(each, sorted.length, protocol)]),
    ),
    min_ms: minOf(sorted),
    trimmed_mean_ms: trimmedMean(sorted),
    max_ms: maxOf(sorted),
    histogram: buildHistogram(sorted),
    tokens_per_second: loaded.tokens === undefined ? null : (loaded.tokens * 1000) / trimmedMean(sorted),
    disturbance_percent: disturbance === undefined ? null : disturbance * 100,
  };
}

export function buildLatencyResult(
  timed: readonly TimedModel[],
  { processor, cores, framework, frameworkVersion }: System,
  percentiles: readonly number[],
  unusable: readonly LatencyRow[] = [],
  origin?: Origin,
): LatencyResult {
  const measurements = timed.flatMap(({ measurement }) => measurement ?? []);
  const mostThreads = Math.max(0, maxOf(timed.map(({ threads }) => threads)));
  return {
    provenance: origin === undefined ? null : buildProvenance({ ...origin, models: timed.map(({ loaded }) => loaded) }),
    processor,
    cores,
    framework,
    framework_version: frameworkVersion,
    percentiles: [...percentiles],
    models: [...timed.map((model) => buildRow(model, percentiles)), ...unusable],
    warnings: measurementWarnings(measurements, { threads: mostThreads, cores }).map(({ message }) => message),
  };
}

export function percentileIn(row: LatencyRow, percentage: number): { latencyMs?: number; reason?: string } {
  if ('reason' in row) return { reason: row.reason };
  const latencyMs = row.latency_ms[`p${percentage}`];
  return latencyMs == null ? { reason: row.not_shown[`p${percentage}`] ?? '' } : { latencyMs };
}

export function isPartial({ models }: LatencyResult): boolean {
  return models.some((row) => 'reason' in row);
}
