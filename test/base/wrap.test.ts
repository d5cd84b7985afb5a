import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wrap } from '../../src/base/wrap.js';

test('a line is broken between words, but not inside of an interval', () => {
  assert.equal(wrap('net takes 12 ms, give or take', 16, '  '), 'net takes 12 ms,\n  give or take');
  assert.equal(wrap('wide: mlp (± 40.2 %)', 19, '  '), 'wide: mlp\n  (± 40.2 %)');
  assert.equal(wrap('wide: mlp (± 40.2 %)', 12, '  '), 'wide: mlp\n  (± 40.2 %)');
});
