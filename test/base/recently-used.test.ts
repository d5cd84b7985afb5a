import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RecentlyUsed } from '../../src/base/recently-used.js';

test('values that were used last stay, up to the size of all together', () => {
  const values = new RecentlyUsed<string>(10);
  const kept = (): readonly (string | undefined)[] => ['a', 'b', 'c'].map((key) => values.get(key));
  values.keep('a', 'one', 4);
  values.keep('b', 'two', 4);
  values.get('a');
  values.keep('c', 'three', 4);
  assert.deepEqual(kept(), ['one', undefined, 'three']);
  values.keep('a', 'larger', 7);
  assert.deepEqual(kept(), ['larger', undefined, undefined]);
  values.delete('a');
  values.keep('b', 'too large', 11);
  assert.deepEqual(kept(), [undefined, undefined, undefined]);
});
