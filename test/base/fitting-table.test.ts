import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fittingTable } from '../../src/base/fitting-table.js';
import type { Column } from '../../src/base/text-table.js';

interface Row {
  readonly name: string;
  readonly ms: string;
}

const COLUMNS: readonly Column<Row>[] = [
  { title: 'name', align: 'left', cell: ({ name }) => name },
  { title: 'latency (ms)', align: 'right', cell: ({ ms }) => ms },
  { title: 'note', align: 'left', cell: () => 'a note' },
  { title: 'more', align: 'left', cell: () => 'more of it' },
];

const ROWS: readonly Row[] = [
  { name: 'models/of/a/deep/folder/resnet50-v1.onnx', ms: '12.34 ± 1.2 %' },
  { name: 'b', ms: '1' },
];

function widthOf(text: string): number {
  return Math.max(...text.split('\n').map((line) => line.length));
}

describe('a table that has to fit', () => {
  it('is whole where there is room', () => {
    const { text, leftOut } = fittingTable(COLUMNS, ROWS, { width: 100, dispensable: ['more', 'note'] });
    assert.deepEqual(leftOut, []);
    assert.match(text, /latency \(ms\)/);
  });

  it('loses the least important columns first, and no more than it has to', () => {
    const { text, leftOut } = fittingTable(COLUMNS, ROWS, { width: 75, dispensable: ['more', 'note'] });
    assert.deepEqual(leftOut, ['more']);
    assert.ok(widthOf(text) <= 75);
  });

  it('then shortens names in the middle, and keeps every figure', () => {
    const { text, leftOut } = fittingTable(COLUMNS, ROWS, { width: 50, dispensable: ['more', 'note'] });
    assert.deepEqual(leftOut, ['more', 'note']);
    assert.ok(widthOf(text) <= 50, text);
    assert.match(text, /│ models\S*…\S*\.onnx │ 12\.34 ± 1\.2 % │/);
  });

  it('wraps long texts rather than shortening names', () => {
    const description = 'a description of many words, which needs much more room than there is in one line';
    const columns: readonly Column<Row>[] = [
      { title: 'name', align: 'left', cell: () => 'zoo:resnet50' },
      { title: 'description', align: 'left', cell: () => description },
    ];
    const { text } = fittingTable(columns, ROWS.slice(0, 1), { width: 50, dispensable: [] });
    assert.ok(widthOf(text) <= 50, text);
    assert.match(text, /│ zoo:resnet50 │/);
    const cells = text
      .split('\n')
      .slice(3, -1)
      .map((line) => (line.split('│')[2] ?? '').trim());
    assert.equal(cells.join(' '), description);
  });
});
