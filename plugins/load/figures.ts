import {
  batchCurve,
  type BatchLine,
  type BatchTime,
  lineThrough,
  PERCENTILES,
  type RanTrial,
  MIN_OTHERS_MS,
  studentWidth,
  type ServingEnd,
  type TrialSummary,
  withSnakeKeys,
  maxOf,
} from '../../src/plugin-api.js';
import type { Figures, LoadResult, MeasuredLoad } from './load-result.js';

function namePercentiles({ percentilesMs }: Pick<TrialSummary, 'percentilesMs'>) {
  const [p50 = null, p90 = null, p95 = null, p99 = null, p999 = null] = percentilesMs;
  return { p50_ms: p50, p90_ms: p90, p95_ms: p95, p99_ms: p99, p999_ms: p999 };
}

export function selectFigures(summary: TrialSummary): Figures {
  return { ...namePercentiles(summary), samples_per_second: summary.samplesPerSecond, holds: summary.holds };
}

/** Share of the processors' time that others took; null where no machine says. */
export function computeTakenShare(ends: readonly ServingEnd[], by: 'stealMs' | 'othersMs'): number | null {
  const shares = ends.flatMap(({ conditions }) => {
    const takenMs = conditions?.[by];
    if (conditions === null || takenMs === undefined) return [];
    return takenMs < MIN_OTHERS_MS ? 0 : takenMs / (conditions.wallMs * conditions.cores);
  });
  return shares.length === 0 ? null : maxOf(shares);
}

export function buildMeasured(trial: RanTrial, summary: TrialSummary): MeasuredLoad {
  const { end, planned, longestQueue } = trial;
  const { percentilesMs, upperMs, ...figures } = summary;
  const upper = (share: (typeof PERCENTILES)[number]) => upperMs[PERCENTILES.indexOf(share)] ?? null;
  return {
    ...withSnakeKeys({ ...figures, planned, longestQueue }),
    ...namePercentiles({ percentilesMs }),
    upper_p50_ms: upper(0.5),
    upper_p90_ms: upper(0.9),
    upper_p99_ms: upper(0.99),
    steal_share: null,
    others_share: null,
    ended: end.kind,
    reason: 'reason' in end ? end.reason : null,
  };
}

const TAIL = 0.05;

/**
 * The 95 % interval of a number of a line. Its half width has two parts, added in squares: the scatter of the times
 * around the line by Student's t, and half the difference between the lines through both ends of the times' intervals,
 * which are wrong together.
 */
function lineInterval(
  of: (line: Pick<BatchLine, 'aMs' | 'bMs'>) => number,
  line: BatchLine | null,
  ends: Ends,
): { readonly low: number | null; readonly high: number | null } {
  if (line?.errors == null) return { low: null, high: null };
  const scatter = studentWidth(TAIL, line.errors.degrees) * of(line.errors);
  const [low, high] = [ends.low, ends.high].map((times) => lineThrough(times ?? []));
  const common = low && high ? (of(high) - of(low)) / 2 : 0;
  const half = Math.hypot(scatter, common);
  return { low: of(line) - half, high: of(line) + half };
}

type Ends = Partial<Record<'low' | 'high', readonly BatchTime[] | undefined>>;

/** @param ends the same times at both ends of their intervals */
export function computeCurve(times: readonly BatchTime[], ends: Ends = {}): LoadResult['batches'][number]['measured'] {
  const curve = batchCurve(times);
  if (curve === undefined) return null;
  const perSecond = (of: readonly BatchTime[] | undefined): number | null => {
    const end = of?.find(({ batch }) => batch === curve.largest);
    return end === undefined ? null : (end.batch * 1000) / end.ms;
  };
  const a = lineInterval(({ aMs }) => aMs, curve.line, ends);
  const b = lineInterval(({ bMs }) => bMs, curve.line, ends);
  return {
    best_batch: curve.best,
    largest_batch: curve.largest,
    largest_samples_per_second: curve.largestPerSecond,
    low_samples_per_second: perSecond(ends.high),
    high_samples_per_second: perSecond(ends.low),
    a_ms: curve.line?.aMs ?? null,
    a_low_ms: a.low,
    a_high_ms: a.high,
    b_ms: curve.line?.bMs ?? null,
    b_low_ms: b.low,
    b_high_ms: b.high,
    largest_residual_ms: curve.line?.largestResidualMs ?? null,
  };
}
