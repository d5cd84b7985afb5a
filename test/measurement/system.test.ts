import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ANY_RUN, buildRunOptions, runOptionsSchema } from '../../src/measurement/system.js';

test('run options are valid from one thread up', () => {
  assert.equal(buildRunOptions(2).threads, 2);
  assert.ok(runOptionsSchema.safeParse(ANY_RUN).success, 'an agent accepts them');
  assert.ok(!runOptionsSchema.safeParse(buildRunOptions(0)).success);
});
