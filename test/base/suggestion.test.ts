import assert from 'node:assert/strict';
import { test } from 'node:test';
import { suggestion } from '../../src/base/suggestion.js';

const KNOWN = ['batch_size', 'granularity', 'threads', 'warmup_runs', 'cut'];

const CASES: readonly [string, string | undefined][] = [
  ['granularty', 'granularity'],
  ['graunlarity', 'granularity'],
  ['batchSize', 'batch_size'],
  ['batch-size', 'batch_size'],
  ['Threads', 'threads'],
  ['warmup', 'warmup_runs'],
  ['cat', 'cut'],
  ['x', undefined],
  ['granite', undefined],
  ['granularity'.repeat(1000), undefined],
];

for (const [name, expected] of CASES) {
  test(`${name.slice(0, 20)} suggests ${expected ?? 'nothing'}`, () => {
    assert.equal(suggestion(name, KNOWN), expected);
  });
}

test('the nearest of several is suggested', () => {
  assert.equal(suggestion('input', ['outputs', 'inputs']), 'inputs');
});
