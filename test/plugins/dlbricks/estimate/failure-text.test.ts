import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failureText } from '../../../../plugins/dlbricks/estimate/brick-latency.js';

test('a measurement that failed says why, and what to do about it', () => {
  const text = (reason: Parameters<typeof failureText>[0]['reason']): string =>
    failureText({ kind: 'failure', reason, message: 'node relu failed. ' });
  assert.match(
    text('run_failed'),
    /^run_failed: node relu failed; give the inputs .* valid values with --input NAME=VALUE/,
  );
  assert.match(text('timeout'), /time_limit_ms/);
  assert.match(text('out_of_memory'), /memory_limit_gib/);
  assert.match(text('crashed'), /--remeasure failed/);
  assert.match(text('unsupported'), /--cut/);
});
