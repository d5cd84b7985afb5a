import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runAtOnce, runInTurns, type Steps } from '../../src/base/steps.js';

function* waiting(ms: number): Steps<string> {
  const startMs = performance.now();
  while (performance.now() - startMs < ms) yield;
  return 'the end';
}

test('steps are run to their end', async () => {
  assert.deepEqual([runAtOnce(waiting(1)), await runInTurns(waiting(100))], ['the end', 'the end']);
});

test('an interrupt that comes while steps run ends them', async () => {
  const interrupt = new AbortController();
  setImmediate(() => interrupt.abort());
  await assert.rejects(runInTurns(waiting(5000), interrupt.signal), { code: 'cancelled' });
});
