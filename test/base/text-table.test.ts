import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drawTable } from '../../src/base/text-table.js';

test('a name in a table neither begins a new row nor controls a terminal', () => {
  const drawn = drawTable({ titles: ['model'], rows: [['a\u001b]0;title\u0007\nfake row\u009b2J']] });
  assert.equal(drawn.split('\n').length, drawTable({ titles: ['model'], rows: [['a']] }).split('\n').length);
  assert.doesNotMatch(drawn.replaceAll('\n', ''), /\p{Cc}/u);
});
