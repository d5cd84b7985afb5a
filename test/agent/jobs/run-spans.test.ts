import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordRuns } from '../../../src/agent/jobs/run-spans.js';
import { SpanRecorder } from '../../../src/tracing/span-recorder.js';
import type { TraceLevel } from '../../../src/tracing/trace-level.js';

function spansAt(level: TraceLevel) {
  const recorder = new SpanRecorder(level);
  const run = (startMs: number) => ({ startNs: BigInt(startMs * 1e6), durationNs: 2e6 });
  const sharing = { droppedRuns: 0, sharedShare: 0, majorFaults: 0 };
  recordRuns(recorder, { warmups: [run(10)], runs: [run(20), run(40)], indices: [0, 1], taken: 2, sharing });
  return recorder.take();
}

test('a trace has all runs in one span, and each run at the level of models', () => {
  const [warmUp, evaluate] = spansAt('MODEL_TRACE');
  assert.deepEqual([warmUp?.name, warmUp?.durationNs, warmUp?.children], ['warm_up', 2e6, []]);
  assert.deepEqual([evaluate?.name, evaluate?.durationNs], ['evaluate', 22e6]);
  assert.deepEqual(
    evaluate?.children.map(({ attributes }) => attributes),
    [0, 1].map((position) => ({ evaluation_trace_level: 'MODEL_TRACE', batch_index: position })),
  );
  assert.deepEqual(evaluate?.attributes, { num_warmup_batches: 1, num_batches: 2 });
  assert.deepEqual(
    spansAt('APPLICATION_TRACE').map(({ children }) => children),
    [[], []],
  );
  assert.deepEqual(spansAt('NO_TRACE'), []);
});
