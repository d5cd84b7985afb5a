import assert from 'node:assert/strict';
import { test } from 'node:test';
import { surroundingsSchema } from '../../src/measurement/surroundings.js';

const UNKNOWN = { node: null, libc: null, kernel: null, container: null, environment: null };

test('what an agent does not say of its surroundings is not known', () => {
  assert.deepEqual(surroundingsSchema.parse({}), UNKNOWN);
  assert.deepEqual(surroundingsSchema.parse({ decoder: 'sharp 0.35' }), { ...UNKNOWN, decoder: 'sharp 0.35' });
});

test('texts of an agent are one line each, and of its environment only what changes timings', () => {
  const isAccepted = (surroundings: object): boolean => surroundingsSchema.safeParse(surroundings).success;
  assert.ok(isAccepted({ kernel: 'x'.repeat(300), environment: { OMP_NUM_THREADS: '2', NODE_OPTIONS: '' } }));
  for (const text of ['a\nb', '\u001b[31m', 'a\u2028', '\u202ea', 'x'.repeat(301)]) {
    assert.ok(!isAccepted({ kernel: text }), JSON.stringify(text));
    assert.ok(!isAccepted({ environment: { OMP_NUM_THREADS: text } }), JSON.stringify(text));
  }
  assert.ok(!isAccepted({ environment: { SECRET: 'x' } }));
});
