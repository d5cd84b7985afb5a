import { linePlot, mean } from '../../../src/plugin-api.js';
import { LEVELS } from '../estimate/statistics.js';
import type { Margin } from '../estimate/interval.js';
import type { Report } from './report-schema.js';

export interface Judged {
  readonly estimateMs: number;
  readonly measuredMs: number;
  /** Empty where it has no interval. */
  readonly margins: readonly Margin[];
}

type Scores = Report['summary']['intervals'];

/**
 * How good intervals are at each level: the share that holds, the mean half width relative to the estimate, and the mean
 * interval score relative to the measured latency (Gneiting and Raftery, 2007, Journal of the American Statistical
 * Association 102, section 6.2): the width, and 2 / (1 - level) times the distance of a latency outside. Less is better.
 */
export function intervalScores(judged: readonly Judged[]): Scores {
  return LEVELS.flatMap((level) => {
    const rows = judged.flatMap(({ estimateMs, measuredMs, margins }) => {
      const margin = margins.find((one) => one.level === level);
      if (margin === undefined || !(estimateMs > 0) || !(measuredMs > 0)) return [];
      const low = Math.max(0, estimateMs - margin.ms);
      const high = estimateMs + margin.ms;
      const outside = Math.max(0, low - measuredMs, measuredMs - high);
      const score = (high - low + (2 / (1 - level)) * outside) / measuredMs;
      return [{ hit: Number(outside === 0), halfWidth: margin.ms / estimateMs, score }];
    });
    if (rows.length === 0) return [];
    const percentOf = (key: 'hit' | 'halfWidth' | 'score'): number => 100 * mean(rows.map((row) => row[key]));
    const shares = {
      hit_percent: percentOf('hit'),
      half_width_percent: percentOf('halfWidth'),
      score_percent: percentOf('score'),
    };
    return [{ level, models: rows.length, ...shares }];
  });
}

export function calibrationPlot(
  title: string,
  { intervals, cross_checked_intervals: crossed }: Report['summary'],
): string {
  const valuesOf = (scores: Scores) => LEVELS.map((level) => scores.find((one) => one.level === level)?.hit_percent);
  return linePlot({
    title,
    xTitle: 'level of the intervals (%)',
    yTitle: 'intervals that hold (%)',
    positions: LEVELS.map((level) => `${level * 100}`),
    isConnected: true,
    series: [
      { label: 'as claimed', values: LEVELS.map((level) => level * 100) },
      { label: 'as reported', values: valuesOf(intervals) },
      { label: 'spreads from the other half of the models', values: valuesOf(crossed) },
    ],
  });
}
