import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordRuns } from '../../../src/agent/jobs/run-spans.js';
import { SpanRecorder } from '../../../src/tracing/span-recorder.js';
import type { ProfiledKernel } from '../../../src/predictor/profile.js';
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
  assert.ok(warmUp !== undefined && evaluate !== undefined);
  const { startUnixNano, ...warmUpRest } = warmUp;
  const attributes = { num_warmup_batches: 1, num_batches: 2 };
  const ofAll = { level: 'APPLICATION_TRACE', attributes };
  assert.deepEqual(warmUpRest, { ...ofAll, name: 'warm_up', durationNs: 2e6, children: [] });
  const msAfter = (span: { readonly startUnixNano: bigint }) => Number(span.startUnixNano - startUnixNano) / 1e6;
  assert.deepEqual(
    [evaluate.name, evaluate.level, evaluate.durationNs, msAfter(evaluate)],
    ['evaluate', 'APPLICATION_TRACE', 22e6, 10],
  );
  assert.deepEqual(
    evaluate.children.map((run) => ({ ...run, startUnixNano: msAfter(run) })),
    [10, 30].map((ms, position) => ({
      ...{ name: 'c_predict', level: 'MODEL_TRACE', startUnixNano: ms, durationNs: 2e6, children: [] },
      attributes: { evaluation_trace_level: 'MODEL_TRACE', batch_index: position },
    })),
  );
  assert.deepEqual(evaluate.attributes, attributes);
  assert.deepEqual(
    spansAt('APPLICATION_TRACE').map(({ children }) => children),
    [[], []],
  );
  assert.deepEqual(spansAt('NO_TRACE'), []);
});

test('a kernel has its place, its shapes and its types, and lies in the middle of the run around it', () => {
  const recorder = new SpanRecorder('FRAMEWORK_TRACE');
  const kernel = (name: string, startNs: number, inner: readonly ProfiledKernel[] = []): ProfiledKernel => ({
    name,
    opType: 'If',
    executionProvider: 'CPUExecutionProvider',
    startNs,
    durationNs: 500,
    inputDims: [[1, 3], []],
    outputDims: [[2, 4]],
    inputTypes: ['float32', 'int64'],
    outputTypes: ['float16'],
    elementType: 'float16',
    inner,
  });
  const kernels = [kernel('first', -3), kernel('', 600, [kernel('a', 700), kernel('b', 800)])];
  const sharing = { droppedRuns: 0, sharedShare: 0, majorFaults: 0 };
  const runs = [{ startNs: 0n, durationNs: 3000 }];
  const profile = [{ durationNs: 1001, kernels }];
  recordRuns(recorder, { warmups: [], runs, indices: [0], taken: 1, sharing }, { profile, bricks: 5 });
  const [evaluate] = recorder.take();
  const [run] = evaluate?.children ?? [];
  assert.ok(run !== undefined);
  assert.deepEqual(run.attributes, { evaluation_trace_level: 'FRAMEWORK_TRACE', batch_index: 0, bricks: 5 });
  const [first, second] = run.children;
  assert.deepEqual(first?.attributes, {
    layer_sequence_index: '0',
    op_name: 'If',
    shape: '[2,4]',
    input_shape: '[1,3];[]',
    input_types: 'float32;int64',
    output_types: 'float16',
    element_type: 'float16',
    execution_provider: 'CPUExecutionProvider',
  });
  const described = [first, second, ...(second?.children ?? [])].map((span) => [
    span?.name,
    span?.level,
    span?.attributes['layer_sequence_index'],
    Number((span?.startUnixNano ?? 0n) - run.startUnixNano),
  ]);
  // The profile is 1999 ns shorter than the run; half of that comes before it.
  assert.deepEqual(described, [
    ['first', 'FRAMEWORK_TRACE', '0', 999],
    ['If', 'FRAMEWORK_TRACE', '1', 1599],
    ['a', 'FRAMEWORK_TRACE', '1-0', 1699],
    ['b', 'FRAMEWORK_TRACE', '1-1', 1799],
  ]);
});

test("a kernel's sections of the thread pool are put one after another, without those that took no time", () => {
  const recorder = new SpanRecorder('SYSTEM_LIBRARY_TRACE');
  const kernel = (distributionUs: number): ProfiledKernel => ({
    name: '',
    opType: 'Relu',
    executionProvider: 'CPUExecutionProvider',
    startNs: 100,
    durationNs: 9000,
    inputDims: [],
    outputDims: [],
    inputTypes: [],
    outputTypes: [],
    elementType: 'float32',
    inner: [],
    pool: { distributionUs, runUs: 3, waitUs: 2 },
  });
  const sharing = { droppedRuns: 0, sharedShare: 0, majorFaults: 0 };
  const runs = [{ startNs: 0n, durationNs: 9100 }];
  const profile = [{ durationNs: 9100, kernels: [kernel(1), kernel(0)] }];
  recordRuns(recorder, { warmups: [], runs, indices: [0], taken: 1, sharing }, { profile });
  const [evaluate] = recorder.take();
  const kernels = evaluate?.children[0]?.children ?? [];
  const at = kernels[0]?.startUnixNano ?? 0n;
  assert.deepEqual(
    kernels.map(({ children }) =>
      children.map(({ startUnixNano, attributes, level, ...span }) => {
        assert.deepEqual(attributes, { section: span.name.split(' ')[1], placed: 'one after another' });
        assert.deepEqual([level, span.children], ['SYSTEM_LIBRARY_TRACE', []]);
        return [span.name, Number(startUnixNano - at), span.durationNs];
      }),
    ),
    [
      [
        ['thread_pool distribution', 0, 1000],
        ['thread_pool run', 1000, 3000],
        ['thread_pool wait', 4000, 2000],
      ],
      [
        ['thread_pool run', 0, 3000],
        ['thread_pool wait', 3000, 2000],
      ],
    ],
  );
});
