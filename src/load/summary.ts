import { finite } from '../base/finite.js';
import { mean } from '../base/mean.js';
import { sumOf } from '../base/sum-of.js';
import type { Bound } from './bound.js';
import { leastQueries, mostOver, nearestRank, upperPercentile } from './percentiles.js';
import type { QueryRecord, TrialOutcome } from './trial.js';

export const PERCENTILES = [0.5, 0.9, 0.95, 0.99, 0.999] as const;

/** Share of the bound, or of the median without one, that the generator's own lateness may take. */
const MAX_LATENESS = 0.05;

export type TrialSummary = ReturnType<typeof summaryOf>;

/** Integral of the number of queries in the system over the run, divided by the time. */
function meanInSystem(records: readonly QueryRecord[]): number {
  const changes = records.flatMap(({ scheduledMs, finishedMs }) => [
    { ms: scheduledMs, by: 1 },
    { ms: finishedMs, by: -1 },
  ]);
  changes.sort((a, b) => a.ms - b.ms);
  let inside = 0;
  let area = 0;
  let beforeMs = changes[0]?.ms ?? 0;
  const startMs = beforeMs;
  for (const { ms, by } of changes) {
    area += inside * (ms - beforeMs);
    inside += by;
    beforeMs = ms;
  }
  return area / (beforeMs - startMs);
}

/**
 * The model's runs, each counted once: a query has its share of the run that answers it.
 *
 * @param fromMs from where on runs count as busy time
 */
function summarizeRuns(records: readonly QueryRecord[], fromMs: number) {
  let count = 0;
  let busyMs = 0;
  let total = 0;
  let squares = 0;
  for (const { startedMs, finishedMs, samples, batch } of records) {
    if (startedMs === null || batch === null) return undefined;
    const share = samples / batch;
    const ms = finishedMs - startedMs;
    count += share;
    busyMs += share * Math.max(0, finishedMs - Math.max(startedMs, fromMs));
    total += share * ms;
    squares += share * ms * ms;
  }
  if (count === 0) return undefined;
  const meanMs = total / count;
  return { count, busyMs, meanMs, variation: Math.sqrt(Math.max(0, squares / count - meanMs ** 2)) / meanMs };
}

export function summaryOf(
  records: readonly QueryRecord[],
  outcome: TrialOutcome,
  { bound, servers, isOpen }: { readonly bound: Bound | undefined; readonly servers: number; readonly isOpen: boolean },
) {
  const answered = records.filter(({ error }) => error === null);
  const latencies = Float64Array.from(answered, ({ finishedMs, scheduledMs }) => finishedMs - scheduledMs).sort();
  const finishedMs = Float64Array.from(answered, (record) => record.finishedMs).sort();
  const firstMs = finishedMs[0] ?? 0;
  const spanMs = (finishedMs.at(-1) ?? 0) - firstMs;
  const perMs = answered.length < 2 ? NaN : (answered.length - 1) / spanMs;
  const samples = sumOf(answered.map((record) => record.samples));
  const runs = summarizeRuns(answered, firstMs);
  const lateness = Float64Array.from(records, ({ sentMs, scheduledMs }) => sentMs - scheduledMs).sort();
  const latenessP99Ms = finite(nearestRank(lateness, 0.99));
  const failed = records.length - answered.length;
  const lost = failed + outcome.unanswered;
  const median = nearestRank(latencies, 0.5);
  // Queries of one moment have no times to keep.
  const isOneMoment = isOpen && records.every(({ scheduledMs }) => scheduledMs === records[0]?.scheduledMs);
  const limitMs = isOneMoment ? Infinity : MAX_LATENESS * (bound?.ms ?? median);
  const latencyMean = mean(latencies);
  const waits = answered.flatMap(({ startedMs, scheduledMs }) => (startedMs === null ? [] : startedMs - scheduledMs));
  const isComplete = outcome.end.kind === 'complete';
  const invalid = invalidBecause(outcome, latenessP99Ms, limitMs, bound);
  const shown = isComplete && lost === 0;
  const allowedOver = bound === undefined ? -1 : mostOver(outcome.planned, bound.share);
  return {
    queries: records.length,
    failed,
    achievedPerSecond: finite(perMs * 1000),
    samplesPerSecond: finite((perMs * 1000 * samples) / answered.length),
    meanBatch: runs === undefined ? null : samples / runs.count,
    utilization: runs === undefined ? null : finite(runs.busyMs / spanMs / servers),
    waitMeanMs: waits.length < answered.length ? null : finite(mean(waits)),
    serviceMeanMs: runs?.meanMs ?? null,
    serviceVariation: runs?.variation ?? null,
    latencyMeanMs: finite(latencyMean),
    percentilesMs: PERCENTILES.map((share) => {
      return shown && answered.length >= leastQueries(share, 0) ? finite(nearestRank(latencies, share)) : null;
    }),
    upperMs: PERCENTILES.map((share) => (isOpen || !shown ? null : upperPercentile(latencies, share))),
    largestMs: latencies.at(-1) ?? null,
    overShare: bound === undefined ? null : outcome.over / Math.max(1, records.length + outcome.unanswered),
    longestQueue: outcome.longestQueue,
    latenessP99Ms,
    /** Mean number of queries in the system over achieved rate times mean latency, less one. */
    littleError: isComplete ? finite(meanInSystem(answered) / (perMs * latencyMean) - 1) : null,
    /** By the rule of early stopping; null without a bound, where the trial is not valid, and with too few queries. */
    holds: allowedOver < 0 || invalid !== null ? null : isComplete && outcome.over <= allowedOver,
    /** Why the figures are no result; null where they are one. */
    invalid,
  };
}

function invalidBecause(
  { end }: TrialOutcome,
  latenessP99Ms: number | null,
  limitMs: number,
  bound: Bound | undefined,
): string | null {
  if (end.kind === 'failed') return end.reason;
  if (end.kind === 'cancelled') return 'interrupted';
  if (latenessP99Ms === null) return 'no query was answered';
  if (latenessP99Ms <= limitMs || !Number.isFinite(limitMs)) return null;
  const [late, most] = [latenessP99Ms, limitMs].map((ms) => `${Number(ms.toPrecision(3))} ms`);
  const of = bound === undefined ? 'median latency' : 'bound';
  const remedy = 'leave a core to the generator (--threads), or run on an idle machine';
  return `the generator sent 1 % of the queries more than ${late} late, and ${most} (5 % of the ${of}) is the limit; ${remedy}`;
}
