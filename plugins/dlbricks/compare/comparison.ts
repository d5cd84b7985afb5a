import { sumOf } from '../../../src/plugin-api.js';
import { toPercent } from '../report/figures.js';
import type { Warning } from './compare-reports.js';
import type { Aspect, ComparedBrick, ComparedModel, Verdict } from './comparison-schema.js';
import type { LabelledRow } from './row.js';

export interface Ratio {
  readonly ratio: number;
  readonly low: number | null;
  readonly high: number | null;
}

export interface Comparison {
  readonly aspects: readonly Aspect[];
  readonly models: readonly ComparedModel[];
  readonly overall: Ratio | undefined;
  readonly bricks: readonly ComparedBrick[];
  /** Of the time, in bricks that the other side lacks; undefined where nothing is known. */
  readonly unmatched: { readonly before: number | undefined; readonly after: number | undefined };
  /** undefined where a side has all. */
  readonly withoutBricks?: { readonly before: string | undefined; readonly after: string | undefined };
  readonly warnings?: { readonly before: readonly Warning[]; readonly after: readonly Warning[] };
  /** undefined where each side was measured on its own. */
  readonly rounds?: number | undefined;
  readonly unpaired: { readonly before: readonly LabelledRow[]; readonly after: readonly LabelledRow[] };
}

/** Times of kernels are whole microseconds. */
const RESOLUTION_MS = 1e-3;

/** undefined where the interval is not known. */
export function judgeRatio({ low, high }: Ratio): Verdict | undefined {
  if (low !== null && low > 1) return 'slower';
  if (high !== null && high < 1) return 'faster';
  return low === null || high === null ? undefined : 'no difference seen';
}

/** The smallest difference that would have been seen, relative to the time before. */
export function seenFrom({ ratio, low, high }: Ratio): number | undefined {
  return low === null || high === null ? undefined : Math.max(high / ratio - 1, 1 - low / ratio);
}

export function ratioFields(ratio: Ratio | undefined): Pick<ComparedModel, keyof typeof NO_RATIO> {
  if (ratio === undefined) return NO_RATIO;
  return { ratio: ratio.ratio, ratio_low: ratio.low, ratio_high: ratio.high, verdict: judgeRatio(ratio) ?? null };
}

const NO_RATIO = { ratio: null, ratio_low: null, ratio_high: null, verdict: null };

/** The ratios of a model: of its estimates, and as measured whole. */
export function bothRatios(ratio: Ratio | undefined, measured: Ratio | undefined) {
  return {
    ...ratioFields(ratio),
    seen_from_percent: toPercent(ratio && seenFrom(ratio)),
    measured_ratio: measured?.ratio ?? null,
    measured_ratio_low: measured?.low ?? null,
    measured_ratio_high: measured?.high ?? null,
  };
}

type BrickFields = Pick<ComparedBrick, 'signature' | 'operators' | 'after_operators' | 'models'>;

export function comparedBrick(
  { models, ...brick }: BrickFields,
  [beforeMs, afterMs]: readonly [number, number],
  ratio: Ratio,
): ComparedBrick {
  const isAbove = Math.abs(afterMs - beforeMs) > RESOLUTION_MS;
  const { verdict, ...fields } = ratioFields(ratio);
  return {
    ...brick,
    before_ms: beforeMs,
    after_ms: afterMs,
    ...fields,
    verdict: isAbove ? verdict : 'no difference seen',
    difference_ms: sumOf(models.map((of) => of.difference_ms)),
    models,
  };
}
