import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ServingSpans } from '../../../src/agent/jobs/serving-spans.js';
import { SpanRecorder } from '../../../src/tracing/span-recorder.js';

const MS = 1_000_000n;

test('a query has its time in the queue and its run in the trace, and a long load run only its first queries', () => {
  const recorder = new SpanRecorder('MODEL_TRACE');
  const spans = new ServingSpans(recorder);
  for (let query = 0n; query < 1200n; query++) {
    const receivedNs = 10n * query * MS;
    spans.add({ receivedNs, startedNs: receivedNs + 2n * MS, finishedNs: receivedNs + 9n * MS, samples: 1, batch: 4 });
  }
  const found = recorder.take();
  assert.equal(found.length, 1000);
  const [first, second] = found;
  assert.ok(first && second);
  assert.deepEqual([first.name, first.durationNs, first.attributes], ['query', 9e6, { query_index: 0, samples: 1 }]);
  assert.deepEqual(
    first.children.map(({ name, durationNs }) => [name, durationNs]),
    [
      ['queue', 2e6],
      ['c_predict', 7e6],
    ],
  );
  const [queue, run] = first.children;
  assert.deepEqual(run?.attributes, { batch: 4, evaluation_trace_level: 'MODEL_TRACE' });
  assert.equal(queue?.startUnixNano, first.startUnixNano);
  assert.equal(run.startUnixNano - first.startUnixNano, 2n * MS);
  for (const { level } of [first, queue, run]) assert.equal(level, 'MODEL_TRACE');
  assert.deepEqual(
    [queue.attributes, queue.children, run.children, second.attributes],
    [{}, [], [], { query_index: 1, samples: 1 }],
  );
  assert.equal(second.startUnixNano - first.startUnixNano, 10n * MS);
});

test('a shallower trace has no queries', () => {
  const recorder = new SpanRecorder('APPLICATION_TRACE');
  new ServingSpans(recorder).add({ receivedNs: 0n, startedNs: 1n, finishedNs: 2n, samples: 1, batch: 1 });
  assert.deepEqual(recorder.take(), []);
});
