import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { kernelTable } from '../../../src/agent/kernel-table.js';
import type { KernelTrace } from '../../../src/agent/layer-trace.js';
import { type CoreProbe, NO_PROBE } from '../../../src/agent/jobs/core-probe.js';
import { traceBenchmark } from '../../../src/agent/jobs/trace-benchmark.js';
import { PlatformError } from '../../../src/base/errors.js';
import {
  AttributeProto,
  AttributeProto_AttributeType,
  GraphProto,
  NodeProto,
} from '../../../src/generated/onnx/onnx.js';
import type { Benchmark } from '../../../src/measurement/benchmark.js';
import { SpanRecorder } from '../../../src/tracing/span-recorder.js';
import { withTemporaryFolder } from '../../onnx/temporary-folder.js';
import { fakeContext, fakePredictor } from '../support/fake-context.js';
import { setupOf } from '../support/measure-one.js';
import { agentForSuite } from '../support/running-agent.js';
import {
  benchmarkOf,
  failingReshape,
  matMul,
  protocol,
  relu,
  runOptions,
  unknownOperator,
} from '../support/tiny-benchmarks.js';

const FRAMEWORK = 'FRAMEWORK_TRACE';

/** A branch of an If: one operator on x. */
function branch(name: string, opType: string): AttributeProto {
  const node = { ...NodeProto.create(), opType, input: ['x'], output: [name] };
  const graph = { ...GraphProto.create(), name, node: [node], output: [{ name, type: undefined, docString: '' }] };
  return { ...AttributeProto.create(), name, type: AttributeProto_AttributeType.GRAPH, g: graph };
}

/** The condition that the agent makes up decides which branch runs. */
const choice = benchmarkOf({
  inputs: { x: { dims: [64, 64] }, condition: { dims: [1], elementType: 'bool' } },
  nodes: [
    {
      opType: 'If',
      inputs: ['condition'],
      outputs: ['y'],
      attributes: [branch('then_branch', 'Relu'), branch('else_branch', 'Sigmoid')],
    },
  ],
  outputs: ['y'],
});

function requestOf(benchmark: Benchmark) {
  return { benchmark, runOptions, ...setupOf(protocol) };
}

describe('an agent traces a model', () => {
  const agent = agentForSuite();

  test('each kernel is timed in every run, and the whole model in as many runs without tracing', async () => {
    const { untracedMs, tracedMs, kernels } = await agent().client.trace(requestOf(matMul), FRAMEWORK);

    assert.deepEqual([untracedMs.length, tracedMs.length], [protocol.runs, protocol.runs]);
    assert.deepEqual(
      kernels.map(({ opName, shape }) => [opName, shape]),
      [['MatMul', '[1,5]']],
    );
    assert.ok(kernels.every(({ runMs }) => runMs.length === protocol.runs));
    const inside = kernels[0]?.runMs.every((ms, i) => ms <= (tracedMs[i] ?? 0));
    assert.ok(inside, 'a kernel takes longer than its run');
  });

  for (const runs of [1, 2]) {
    test(`the model also runs ${runs} times without tracing where it is traced ${runs} times`, async () => {
      const few = setupOf({ ...protocol, runs, minRuns: 1 });
      const { untracedMs } = await agent().client.trace({ benchmark: matMul, runOptions, ...few }, FRAMEWORK);
      assert.equal(untracedMs.length, runs);
    });
  }

  test("a subgraph's kernels are inside the operator that executes the subgraph", async () => {
    const { kernels } = await agent().client.trace(requestOf(choice), FRAMEWORK);
    const [holder, inner] = kernels;

    assert.deepEqual([holder?.sequenceIndex, holder?.opName], ['0', 'If']);
    assert.equal(inner?.sequenceIndex, '0-0');
    assert.ok(holder?.runMs.every((ms, i) => ms >= (inner?.runMs[i] ?? Infinity)));
  });

  test('a model that the runtime refuses and a model that fails to run give different errors', async () => {
    const codeOf = (benchmark: Benchmark): Promise<unknown> => {
      return agent()
        .client.trace(requestOf(benchmark), FRAMEWORK)
        .catch((error: unknown) => error instanceof PlatformError && error.code);
    };
    assert.equal(await codeOf(unknownOperator), 'unsupported');
    assert.equal(await codeOf(failingReshape), 'model');
  });
});

test('a trace covers the runs before, with and after the profile', async () => {
  let runs = 0;
  const profile = Array.from({ length: 5 }, () => ({ durationNs: 1, kernels: [] }));
  const recorder = new SpanRecorder('FRAMEWORK_TRACE');
  const { conditions } = await withTemporaryFolder((temporaryFolder) => {
    const predictor = fakePredictor({ execute: () => Promise.resolve(void runs++) }, profile);
    const context = fakeContext({ predictor, temporaryFolder, recorder, majorFaults: () => runs });
    const setup = setupOf({ ...protocol, warmupRuns: 1, runs: 4 });
    return traceBenchmark({ kind: 'trace', benchmark: relu, runOptions, ...setup }, context);
  });
  assert.equal(conditions?.majorFaults, 8);
  const spans = recorder.take();
  assert.deepEqual(
    spans.map(({ name }) => name),
    ['load_model', 'warm_up', 'evaluate', 'load_model', 'warm_up', 'evaluate', 'load_model', 'warm_up', 'evaluate'],
  );
  const evaluations = spans.filter(({ name }) => name === 'evaluate');
  assert.deepEqual(
    evaluations.map(({ children }) => children.map(({ attributes }) => attributes['evaluation_trace_level'])),
    [Array(2).fill('MODEL_TRACE'), Array(4).fill('FRAMEWORK_TRACE'), Array(2).fill('MODEL_TRACE')],
  );
});

test('a trace is as shared as its most shared series', async () => {
  const profile = Array.from({ length: 4 }, () => ({ durationNs: 1, kernels: [] }));
  let probes = 0;
  // The first series has two runs, with a probe before and after each.
  const coreProbe: CoreProbe = {
    ...NO_PROBE,
    take: () => Promise.resolve(probes++ < 3 ? 1 : 0),
    isShared: (probeNs) => probeNs > 0,
  };
  const { conditions } = await withTemporaryFolder((temporaryFolder) => {
    const context = fakeContext({ predictor: fakePredictor({}, profile), temporaryFolder, coreProbe });
    const setup = setupOf({ ...protocol, warmupRuns: 0, runs: 4, minRuns: 4 });
    return traceBenchmark({ kind: 'trace', benchmark: relu, runOptions, ...setup }, context);
  });
  assert.deepEqual([conditions?.sharedShare, conditions?.droppedRuns], [1, 0]);
});

test('a trace of one run has one series without the profile, and closes each session', async () => {
  let opened = 0;
  let closed = 0;
  const fake = fakePredictor({}, [{ durationNs: 1, kernels: [] }]);
  const counting = <T extends { close: () => Promise<void> }>(model: T): T => {
    opened++;
    return { ...model, close: () => Promise.resolve(void closed++) };
  };
  const predictor: typeof fake = {
    ...fake,
    open: async (...given) => counting(await fake.open(...given)),
    openProfiled: async (...given) => counting(await (fake.openProfiled ?? assert.fail())(...given)),
  };
  const { untracedMs, tracedMs } = await withTemporaryFolder((temporaryFolder) => {
    const setup = setupOf({ ...protocol, warmupRuns: 0, runs: 1, minRuns: 1 });
    const job = { kind: 'trace', benchmark: relu, runOptions, ...setup } as const;
    return traceBenchmark(job, fakeContext({ predictor, temporaryFolder }));
  });
  assert.deepEqual([untracedMs.length, tracedMs.length, opened, closed], [1, 1, 2, 2]);
});

describe('a table of layers', () => {
  const kernel = (sequenceIndex: string, runMs: readonly number[]): KernelTrace => {
    const rest = { name: '', opName: '', executionProvider: '', shape: '', inputShape: '', elementType: '' };
    const types = { inputTypes: '', outputTypes: '' };
    return { sequenceIndex, runMs, ...rest, ...types };
  };

  test('states the overhead of tracing from trimmed means', () => {
    const { modelMs, tracedModelMs, overheadMs } = kernelTable({
      untracedMs: [10, 10, 10, 10, 99],
      tracedMs: [12, 12, 12, 12, 99],
      kernels: [],
    });
    assert.deepEqual([modelMs, tracedModelMs, overheadMs], [10, 12, 2]);
  });

  test('has the slowest kernels and operators first', () => {
    const named = (opName: string, ms: number, index: string): KernelTrace => ({ ...kernel(index, [ms]), opName });
    const kernels = [named('Relu', 1, '0'), named('If', 3, '1'), named('Relu', 3, '1-0'), named('Relu', 4, '2')];
    const { rows, operators, kernelsMs } = kernelTable({ untracedMs: [9], tracedMs: [13], kernels });
    assert.equal(kernelsMs, 8);
    assert.deepEqual(
      rows.map(({ sequenceIndex, latencyMs }) => [sequenceIndex, latencyMs]),
      [
        ['2', 4],
        ['1', 3],
        ['1-0', 3],
        ['0', 1],
      ],
    );
    assert.deepEqual(operators, [
      { opName: 'Relu', kernels: 2, latencyMs: 5, share: 5 / 8 },
      { opName: 'If', kernels: 1, latencyMs: 3, share: 3 / 8 },
    ]);
  });

  test("does not count a subgraph's kernels twice", () => {
    const kernels = [kernel('0', [4]), kernel('0-0', [3]), kernel('1', [4])];
    assert.equal(kernelTable({ untracedMs: [9], tracedMs: [9], kernels }).kernelsMs, 8);
  });
});
