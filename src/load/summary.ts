import { finite } from '../base/finite.js';
import { mean } from '../base/mean.js';
import { sumOf } from '../base/sum-of.js';
import type { Bound } from './bound.js';
import { leastQueries, mostOver, nearestRank, upperPercentile } from './percentiles.js';
import type { QueryRecord, SentQuery, TrialOutcome } from './trial.js';

export const PERCENTILES = [0.5, 0.9, 0.95, 0.99, 0.999] as const;

/** Share of the bound, or of the median without one, that the generator's own lateness may take. */
const MAX_LATENESS = 0.05;

export type TrialSummary = ReturnType<typeof summarizeTrial>;

/** One number of each record, sorted. A trial has up to millions of records. */
function sortValues<T>(records: readonly T[], valueOf: (record: T) => number): Float64Array {
  const values = new Float64Array(records.length);
  records.forEach((record, index) => (values[index] = valueOf(record)));
  return values.sort();
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

export function summarizeTrial(
  records: readonly QueryRecord[],
  outcome: TrialOutcome,
  { bound, servers, isOpen }: { readonly bound: Bound | undefined; readonly servers: number; readonly isOpen: boolean },
) {
  const answered = records.filter(({ error }) => error === null);
  const latencies = sortValues(answered, ({ finishedMs, scheduledMs }) => finishedMs - scheduledMs);
  const finishedMs = sortValues(answered, (record) => record.finishedMs);
  const [firstMs = 0] = finishedMs;
  const lastMs = finishedMs.at(-1) ?? 0;
  const spanMs = lastMs - firstMs;
  const perMs = answered.length < 2 ? NaN : (answered.length - 1) / spanMs;
  const samples = sumOf(answered.map((record) => record.samples));
  const runs = summarizeRuns(answered, firstMs);
  const { unanswered } = outcome;
  const sent: readonly SentQuery[] = unanswered.length === 0 ? records : [...records, ...unanswered];
  const lateness = sortValues(sent, ({ sentMs, scheduledMs }) => sentMs - scheduledMs);
  const latenessP99Ms = finite(nearestRank(lateness, 0.99));
  const failed = records.length - answered.length;
  const lost = failed + unanswered.length;
  const median = nearestRank(latencies, 0.5);
  // Queries of one moment have no times to keep.
  const isOneMoment = isOpen && sent.every(({ scheduledMs }) => scheduledMs === sent[0]?.scheduledMs);
  const limitMs = isOneMoment ? Infinity : MAX_LATENESS * (bound?.ms ?? median);
  const latencyMean = mean(latencies);
  const waits = answered.flatMap(({ startedMs, scheduledMs }) => (startedMs === null ? [] : startedMs - scheduledMs));
  const spentMs = sumOf(records.map(({ finishedMs, scheduledMs }) => finishedMs - scheduledMs));
  const isComplete = outcome.end.kind === 'complete';
  const hasAnswers = answered.length > 0;
  const invalid = invalidBecause(outcome, { latenessP99Ms, limitMs, bound, hasAnswers });
  // A result that is not valid gives no headline.
  const shown = isComplete && lost === 0 && invalid === null;
  const allowedOver = bound === undefined ? -1 : mostOver(outcome.planned, bound.share);
  return {
    queries: records.length,
    failed,
    /** Error of the first query that failed. */
    failure: records.find(({ error }) => error !== null)?.error ?? null,
    achievedPerSecond: finite(perMs * 1000),
    samplesPerSecond: invalid === null ? finite((perMs * 1000 * samples) / answered.length) : null,
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
    overShare: bound === undefined ? null : outcome.over / Math.max(1, sent.length),
    longestQueue: outcome.longestQueue,
    latenessP99Ms,
    /** Mean number of queries in the system, as the generator counts them, over rate times mean latency, less one. */
    littleError: isComplete ? finite(outcome.inSystemMs / spentMs - 1) : null,
    clockDriftMs: outcome.clockDriftMs ?? null,
    /** By the rule of early stopping; null without a bound, where the trial is not valid, and with too few queries. */
    holds: allowedOver < 0 || invalid !== null ? null : isComplete && outcome.over <= allowedOver,
    /** Why the figures are no result; null where they are one. */
    invalid,
  };
}

interface Judged {
  readonly latenessP99Ms: number | null;
  readonly limitMs: number;
  readonly bound: Bound | undefined;
  readonly hasAnswers: boolean;
}

function invalidBecause(
  { end, clockDriftMs = 0 }: TrialOutcome,
  { latenessP99Ms, limitMs, bound, hasAnswers }: Judged,
): string | null {
  if (end.kind === 'failed') return end.reason;
  if (end.kind === 'cancelled') return 'interrupted';
  // Queries without an answer are over a bound.
  if (latenessP99Ms === null || (bound === undefined && !hasAnswers)) return 'no query was answered';
  const text = (ms: number): string => `${Number(ms.toPrecision(3))} ms`;
  const limit = `and ${text(limitMs)} (5 % of the ${bound === undefined ? 'median latency' : 'bound'}) is the limit`;
  if (latenessP99Ms > limitMs) {
    const remedy = 'leave a core to the generator (--threads), or run on an idle machine';
    return `the generator sent 1 % of the queries more than ${text(latenessP99Ms)} late, ${limit}; ${remedy}`;
  }
  const driftMs = Math.abs(clockDriftMs);
  if (!(driftMs > limitMs)) return null;
  const remedy = "synchronize the machines' clocks (NTP), or choose shorter trials (--queries, --duration)";
  return `a server's clock moved by ${text(driftMs)} against the generator's, ${limit}; ${remedy}`;
}
