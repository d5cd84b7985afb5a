import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { calibrationPlot, intervalScores } from '../../../../plugins/dlbricks/report/interval-scores.js';
import type { ModelResult } from '../../../../plugins/dlbricks/report/evaluation-result.js';
import { buildReport } from '../../../../plugins/dlbricks/report/report.js';
import { toTable } from '../../../../plugins/dlbricks/report/table.js';
import { near } from '../../../support/near.js';
import { endToEndOf, estimateOf, resultOf, SETTINGS } from './sample-result.js';

const margins = [
  { level: 0.5, ms: 0.5 },
  { level: 0.8, ms: 1 },
  { level: 0.95, ms: 2 },
] as const;

describe('the scores of intervals', () => {
  test('are the share that holds, the mean half width, and the interval score of Gneiting and Raftery', () => {
    const judged = [
      { estimateMs: 10, measuredMs: 10.2, margins },
      { estimateMs: 10, measuredMs: 12.5, margins },
    ];
    const scores = intervalScores(judged);
    assert.deepEqual(
      scores.map(({ level, models, hit_percent: hit }) => [level, models, hit]),
      [
        [0.5, 2, 50],
        [0.8, 2, 50],
        [0.95, 2, 50],
      ],
    );
    near(scores[2]?.half_width_percent, 20);
    // At 95 %: the width is 4 ms; 12.5 ms is 0.5 ms above the upper end, which counts 2 / 0.05 times.
    near(scores[2]?.score_percent, (100 * (4 / 10.2 + (4 + 40 * 0.5) / 12.5)) / 2);
  });

  test('are worse for intervals that are too wide, and for intervals that are too narrow', () => {
    const scoreOf = (ms: number): number =>
      intervalScores(
        [9.5, 10, 10.5].map((measuredMs) => ({ estimateMs: 10, measuredMs, margins: [{ level: 0.95, ms }] })),
      )[0]?.score_percent ?? NaN;
    assert.ok(scoreOf(0.5) < scoreOf(2) && scoreOf(0.5) < scoreOf(0.3));
  });

  test('leave out models without an interval, and are empty without any', () => {
    assert.deepEqual(intervalScores([{ estimateMs: 10, measuredMs: 10, margins: [] }]), []);
  });
});

describe('a report of validate', () => {
  const model: ModelResult = {
    estimate: estimateOf('m', 10, { margins }),
    crossChecked: [{ level: 0.95, ms: 0.1 }],
    endToEnd: endToEndOf(0, 10.7, 100, 10.7),
  };
  const report = buildReport(resultOf([model]), { ...SETTINGS, cut: 'kernel' });

  test('has the scores of the intervals, and of those by the spreads of the other half of the models', () => {
    const { intervals, cross_checked_intervals: crossed } = report.summary;
    assert.deepEqual(
      intervals.map(({ hit_percent: hit }) => hit),
      [0, 100, 100],
    );
    assert.deepEqual(
      crossed.map(({ hit_percent: hit, models }) => [hit, models]),
      [[0, 1]],
    );
    const text = toTable([report], { color: false, wide: false });
    assert.match(text, /^intervals at 50 %: 0 of 1 hold, ± 5\.0 %, score [\d.]+ %; 80 %: 1 of 1 hold/m);
    assert.match(text, /^by the spreads of the other half of the models: 95 %: 0 of 1 hold/m);
  });

  test('has a plot of their calibration', () => {
    const svg = calibrationPlot('Calibration', report.summary);
    for (const label of ['as claimed', 'as reported', 'other half of the models']) assert.ok(svg.includes(label));
    assert.match(svg, /^<svg/);
  });
});
