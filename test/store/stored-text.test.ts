import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { readText } from '../../src/store/stored-text.js';

const schema = z.object({ name: z.string('a text') });

test('a stored text is what its schema makes of it, or says why it is no use', () => {
  assert.deepEqual(readText('{"name":"x"}', schema), { ok: true, value: { name: 'x' } });
  assert.deepEqual(readText('{"name":1}', schema), { ok: false, problem: 'name: a text' });
  assert.deepEqual(readText('{"name', schema), { ok: false, problem: 'not JSON' });
});
