import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FillModel } from '../../../../plugins/dlbricks/traces/fill.js';
import { openTraceBook } from '../../../../plugins/dlbricks/traces/trace-book.js';
import { layer, type Row, traced } from './table.js';

/** Time in ms: 0.01 ms, and 1 ns for each of the 8 bytes per element that are read and written. */
const costOf = (size: number): number => 0.01 + 8e-6 * size;

function fillFrom(rows: readonly Row[]): FillModel {
  return new FillModel(
    openTraceBook([traced('a', rows.slice(0, 3)), traced('b', rows.slice(3))], undefined).occurrences,
  );
}

const SIZES = [100, 1000, 10_000, 50_000, 100_000, 1_000_000];

describe('an unmeasured layer', () => {
  test('is estimated from measured layers with the same operator, by the bytes that it moves', () => {
    const model = fillFrom(SIZES.map((size): Row => ['Relu', size, costOf(size)]));
    const filled = model.timeOf(layer(0, ['Relu', 300_000]));
    assert(filled !== undefined);
    assert(Math.abs(filled.ms / costOf(300_000) - 1) < 0.01, String(filled.ms));
    assert(filled.spread < 0.01, String(filled.spread));
  });

  test('is as uncertain as estimates of the measured layers from each other', () => {
    const noise = [1.3, 0.7, 1.25, 0.75, 1.2, 0.8];
    const model = fillFrom(SIZES.map((size, i): Row => ['Relu', size, costOf(size) * (noise[i] ?? 1)]));
    const filled = model.timeOf(layer(0, ['Relu', 300_000]));
    assert(filled !== undefined && filled.spread > 0.2, String(filled?.spread));
  });

  test('stays missing if too few layers with its operator were measured, or if its size is unknown', () => {
    const model = fillFrom([
      ...SIZES.slice(0, 4).map((size): Row => ['Relu', size, costOf(size)]),
      ['Tanh', 100, 1],
      ['Tanh', 200, 1],
    ]);
    assert.equal(model.timeOf(layer(0, ['Tanh', 150])), undefined);
    assert.equal(model.timeOf(layer(0, ['Erf', 150])), undefined);
    assert.equal(model.timeOf({ operator: 'Relu' }), undefined);
  });
});
