import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ownValue } from '../../src/base/own-value.js';
import { INHERITED_NAMES } from './inherited-names.js';

test('an object has its own properties, and none that it inherits', () => {
  assert.equal(ownValue({ Conv: 1 }, 'Conv'), 1);
  assert.equal(ownValue(JSON.parse('{"__proto__": 2}') as object as Record<string, number>, '__proto__'), 2);
  for (const name of INHERITED_NAMES) assert.equal(ownValue({}, name), undefined);
});
