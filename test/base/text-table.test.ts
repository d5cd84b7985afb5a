import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drawTable } from '../../src/base/text-table.js';

test('a name in a table neither begins a new row nor controls a terminal', () => {
  const drawn = drawTable({ titles: ['model'], rows: [['a\u001b]0;title\u0007\nfake row\u009b2J']] });
  assert.equal(drawn.split('\n').length, drawTable({ titles: ['model'], rows: [['a']] }).split('\n').length);
  assert.doesNotMatch(drawn.replaceAll('\n', ''), /\p{Cc}/u);
});

test('a table is as wide as its widest lines, in which some characters take two places', () => {
  const aligns = ['left', 'right'] as const;
  const titles = ['a', 'long\n(ms)'];
  assert.equal(
    drawTable({
      titles,
      aligns,
      rows: [
        ['漢字', '1'],
        ['', '20'],
      ],
    }),
    [
      '┌──────┬──────┐',
      '│ a    │ long │',
      '│      │ (ms) │',
      '├──────┼──────┤',
      '│ 漢字 │    1 │',
      '│      │   20 │',
      '└──────┴──────┘',
    ].join('\n'),
  );
  assert.equal(drawTable({ titles: ['a'], rows: [] }), ['┌───┐', '│ a │', '└───┘'].join('\n'));
});

test('a table reads its cells in proportion to their number', () => {
  const titles = Array.from({ length: 20 }, (_, at) => `column ${at}`);
  const countReads = (count: number): number => {
    let reads = 0;
    const cells = new Proxy(titles, {
      get(target, key, receiver): unknown {
        reads++;
        return Reflect.get(target, key, receiver);
      },
    });
    drawTable({ titles, rows: Array.from({ length: count }, () => cells) });
    return reads;
  };
  // Where each row looks at all others, it is 256 times as often.
  assert.equal(countReads(2400), 16 * countReads(150));
});
