import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ComparedBrick, ModelCheck } from '../../../../plugins/dlbricks/estimate/compare-kernels.js';
import { buildReport } from '../../../../plugins/dlbricks/report/report.js';
import { toTable } from '../../../../plugins/dlbricks/report/table.js';
import { COSTS, endToEndOf, estimateOf, resultOf, SETTINGS } from './sample-result.js';

function brick(index: number, kernelsMs: number, bricksMs: number, isOutside: boolean | null): ComparedBrick {
  const kernel = `/layer${index}/MatMul`;
  return {
    signature: `${index}`,
    operators: ['MatMul'],
    shapes: ['8x64', '64x64'],
    kernel,
    sequences: 2,
    kernelsMs,
    bricksMs,
    isOutside,
  };
}

const bricks = [
  brick(1, 30, 24, true),
  ...[2, 3, 4, 5, 6, 7].map((i) => brick(i, 10, 8, true)),
  brick(8, 4, 4.1, false),
];
const check: ModelCheck = { kind: 'compared', graphMs: 96, kernelsMs: 94, bricksMs: 76.1, bricks, costMs: 1500 };

function reportWith(checked: ModelCheck | undefined, measuredMs?: number) {
  const endToEnd = measuredMs === undefined ? undefined : endToEndOf(0, measuredMs, 1000, measuredMs);
  const costs = { ...COSTS, checkMs: 1600 };
  return buildReport(resultOf([{ estimate: estimateOf('model', 80), endToEnd, check: checked }], { costs }), SETTINGS);
}

const lines = (checked: ModelCheck | undefined, measuredMs?: number): readonly string[] =>
  toTable([reportWith(checked, measuredMs)], { color: false }).split('\n');

describe('the check of a model', () => {
  test('has the sums, and names the kernels with the largest differences', () => {
    const shown = lines(check);
    const at = shown.findIndex((line) => line.startsWith('check of model'));
    assert.match(
      shown[at] ?? '',
      /kernels take 94\.00 ms in one run of the whole graph, 76\.10 ms by bricks \(-19\.0 %\)/,
    );
    assert.match(shown[at] ?? '', /7 of 8 bricks differ by more than the interval; the largest differences:/);
    assert.equal(
      shown[at + 1],
      '  -6.000 ms  2 x MatMul (8x64, 64x64): 30.00 ms in the graph, 24.00 ms by bricks; such as /layer1/MatMul',
    );
    assert.equal(shown[at + 6], '  and 2 smaller; --export-json lists all');
  });

  test('has a sign on each difference of the sums', () => {
    assert.ok(lines({ ...check, bricksMs: 103.4 }).some((line) => line.includes('103.4 ms by bricks (+10.0 %)')));
  });

  test('has no count without intervals', () => {
    const once = lines({ ...check, bricks: [brick(1, 30, 24, null)] });
    assert.ok(once.some((line) => line.includes('(-19.0 %); bricks have no interval to compare with; the largest')));
  });

  test('says which part of the error comes from kernels if the whole model is measured', () => {
    assert.ok(
      lines(check, 100).some((line) => /error -20\.00 ms: -17\.90 ms from these kernels, -2\.100 ms/.test(line)),
    );
    assert.ok(!lines(check).some((line) => line.includes('error -')));
  });

  test('is in the document with all bricks, and its cost is stated', () => {
    const { models, summary } = reportWith(check);
    const [model] = models;
    assert.deepEqual([model?.check?.bricks.length, model?.check?.seconds, model?.check?.failure], [8, 1.5, null]);
    assert.deepEqual(model?.check?.bricks[7], {
      signature: '8',
      operators: ['MatMul'],
      shapes: ['8x64', '64x64'],
      kernel: '/layer8/MatMul',
      sequences: 2,
      kernels_ms: 4,
      bricks_ms: 4.1,
      is_outside: false,
    });
    assert.equal(summary.costs?.check_seconds, 1.6);
    assert.ok(lines(check).some((line) => line.includes('; check 1.6 s')));
  });

  test('has a reason if it was not possible, and is absent if it was not asked for', () => {
    const failed = lines({ kind: 'failed', reason: 'no profile' });
    assert.ok(failed.includes('model: its bricks were not checked: no profile'));
    assert.equal(reportWith(undefined).models[0]?.check, null);
  });
});
