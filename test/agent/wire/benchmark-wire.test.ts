import fc from '../../support/property.js';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { InferredValue } from '../../../src/onnx/layers/layer-graph.js';
import type { RunValue } from '../../../src/agent/run-value.js';
import type { Measured } from '../../../src/agent/jobs/job.js';
import * as wire from '../../../src/agent/wire/benchmark-wire.js';
import * as messages from '../../../src/generated/mlmodelscope/benchmark/v1/benchmark.js';
import type { Conditions } from '../../../src/measurement/conditions.js';
import { FAILURE_REASONS } from '../../../src/measurement/measurement.js';
import { OPTIMIZATION_LEVELS } from '../../../src/measurement/runtime-settings.js';
import { identifySystem, buildRunOptions } from '../../../src/measurement/system.js';
import { ELEMENT_TYPE_NAMES } from '../../../src/onnx/model/element-type.js';
import type { Benchmark } from '../../../src/measurement/benchmark.js';
import { MAX_LISTED_VALUES } from '../../../src/onnx/model/model.js';
import { protocol, relu, runOptions } from '../support/tiny-benchmarks.js';
import { setupOf } from '../support/measure-one.js';
import { sent } from '../support/sent.js';

const setup = setupOf(protocol);

const elementType = fc.constantFrom(...ELEMENT_TYPE_NAMES);
const dims = fc.array(fc.nat(100), { maxLength: 5 });
const bytes = fc.uint8Array({ minLength: 1, maxLength: 20 }).map((array) => Uint8Array.from(array));
// Protocol buffers do not distinguish -0 from 0.
const finite = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
const plain = { noNullPrototype: true } as const;
const duration = fc.oneof(fc.constant(0), fc.double({ min: 1e-9, max: 1e6, noNaN: true }));
const signature = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((array) => Buffer.from(array).toString('hex'));

const fill = fc
  .tuple(finite, finite, fc.maxSafeNat())
  .map(([a, b, seed]) => ({ low: Math.min(a, b), high: Math.max(a, b), seed }));
const input = fc.record(
  {
    name: fc.string({ minLength: 1 }),
    role: fc.constantFrom('weight', 'activation'),
    elementType,
    dims,
    fill,
  },
  plain,
);
const benchmark = fc.record(
  {
    signature,
    model: bytes,
    inputs: fc.uniqueArray(input, { selector: ({ name }) => name, maxLength: 5 }),
    weights: fc.string({ minLength: 1 }),
  },
  { requiredKeys: ['signature', 'model', 'inputs'], ...plain },
);

const positive = fc.double({ min: 1, max: 1e6, noNaN: true });

const conditions: fc.Arbitrary<Conditions> = fc.record(
  {
    wallMs: duration,
    cores: fc.integer({ min: 1, max: 4096 }),
    stealMs: duration,
    othersMs: duration,
    throttledMs: duration,
    lowestMhz: positive,
    highestMhz: positive,
    droppedRuns: fc.nat({ max: 2 ** 31 - 1 }),
    majorFaults: fc.nat({ max: 2 ** 31 - 1 }),
    sharedShare: fc.double({ min: 0, max: 1, noNaN: true }),
  },
  { requiredKeys: ['wallMs', 'cores'], ...plain },
);

const measured: fc.Arbitrary<Measured> = fc.record(
  {
    outcome: fc.oneof(
      fc.record(
        {
          kind: fc.constant('samples' as const),
          runMs: fc.array(duration, { minLength: 1 }),
          warmupMs: fc.array(duration),
          overheadMs: duration,
        },
        { requiredKeys: ['kind', 'runMs', 'warmupMs'], ...plain },
      ),
      fc.record(
        { kind: fc.constant('failure' as const), reason: fc.constantFrom(...FAILURE_REASONS), message: fc.string() },
        plain,
      ),
    ),
    costMs: duration,
    sessionMs: duration,
    peakMemoryBytes: fc.maxSafeNat(),
    conditions,
  },
  { requiredKeys: ['outcome', 'costMs', 'sessionMs', 'peakMemoryBytes'], ...plain },
);

const system = identifySystem(
  {
    processor: 'Some CPU',
    architecture: 'x64',
    operatingSystem: 'Linux 6.1',
    cores: 4,
    memoryBytes: 25276502016,
    cacheBytes: 33554432,
    processorFeatures: ['avx', 'avx2'],
    framework: 'onnxruntime',
    frameworkVersion: '1.30.0',
  },
  runOptions,
);

describe('wire', () => {
  test('a benchmark arrives as it was sent', () => {
    fc.assert(
      fc.property(benchmark, (original) => {
        assert.deepEqual(wire.fromWireBenchmark(sent(messages.Benchmark, wire.toWireBenchmark(original))), original);
      }),
    );
  });

  test('a measurement arrives as it was sent', () => {
    const generous = { ...setup, protocol: { ...setup.protocol, runs: 1000, warmupRuns: 1000 } };
    fc.assert(
      fc.property(signature, measured, (id, original) => {
        const message = sent(messages.Measurement, wire.toWireMeasurement(id, original));
        const measuredAt = '2026-01-02T03:04:05.678Z';
        assert.deepEqual(
          wire.fromWireMeasurement(
            message,
            { ...generous, benchmark: { ...relu, signature: id } },
            { system, measuredAt },
          ),
          {
            signature: id,
            system,
            ...generous,
            ...original,
            measuredAt,
          },
        );
      }),
    );
  });

  test('a benchmark with given values arrives as it was sent, and one with too many of them is refused', () => {
    const given = (count: number): Benchmark => {
      const list = Array.from({ length: count }, () => 1);
      const fill = { low: 0, high: 1, seed: 7, list };
      const [input = assert.fail()] = relu.inputs;
      return { ...relu, inputs: [{ ...input, fill, isGiven: true }] };
    };
    const arrives = (benchmark: Benchmark): Benchmark => {
      return wire.fromWireBenchmark(sent(messages.Benchmark, wire.toWireBenchmark(benchmark)));
    };
    const arrived = arrives(given(3));
    assert.deepEqual({ ...arrived, model: Uint8Array.from(arrived.model) }, given(3));
    assert.throws(() => arrives(given(MAX_LISTED_VALUES + 1)), {
      code: 'usage',
      message: /^benchmark\.inputs\.0\.fill\.list: /,
    });
  });

  test('memory is rounded to the nearest byte', () => {
    const outcome = { kind: 'samples' as const, runMs: [1], warmupMs: [1] };
    const measured: Measured = { outcome, costMs: 1, sessionMs: 1, peakMemoryBytes: 10.6 };
    assert.equal(wire.toWireMeasurement(relu.signature, measured).peakMemoryBytes, 11n);
  });

  test('a measurement that is not valid is refused as one', () => {
    const outcome = { kind: 'samples' as const, runMs: [1], warmupMs: [1] };
    const message = wire.toWireMeasurement(relu.signature, { outcome, costMs: 1, sessionMs: 1, peakMemoryBytes: 1 });
    const place = { system, measuredAt: '2026-01-02T03:04:05.678Z' };
    const arriving = (): unknown => {
      return wire.fromWireMeasurement({ ...message, costMs: -1 }, { ...setup, benchmark: relu }, place);
    };
    assert.throws(arriving, { code: 'usage', message: /^measurement\.costMs: / });
  });

  test('a measurement with impossible times is refused', () => {
    const samples = { kind: 'samples' as const, runMs: [1], warmupMs: [1] };
    const sane: Measured = { outcome: samples, costMs: 1, sessionMs: 1, peakMemoryBytes: 1 };
    const wrong: readonly Measured[] = [
      { ...sane, outcome: { ...samples, runMs: [1, 1e308] } },
      { ...sane, outcome: { ...samples, overheadMs: 5e-324 } },
      { ...sane, costMs: 1e300 },
    ];
    for (const one of wrong) {
      const message = sent(messages.Measurement, wire.toWireMeasurement(relu.signature, one));
      const place = { system, measuredAt: '2026-01-02T03:04:05.678Z' };
      const arriving = (): unknown => wire.fromWireMeasurement(message, { ...setup, benchmark: relu }, place);
      assert.throws(arriving, { code: 'usage', message: /^measurement: a time of .* ms, expected 0, or from/ });
    }
  });

  test('a protocol arrives as it was sent, to the nanosecond', () => {
    const timeBudgetMs = 1234.567891;
    const precise = setupOf({ ...protocol, timeBudgetMs, timeLimitMs: 0.5, occasion: 3 });
    const message = sent(messages.Protocol, wire.toWireProtocol(precise));
    const arrived = wire.fromWireProtocol(message, 1);

    assert.ok(Math.abs(arrived.protocol.timeBudgetMs - timeBudgetMs) < 1e-6);
    assert.deepEqual({ ...arrived, protocol: { ...arrived.protocol, timeBudgetMs } }, precise);
  });

  test('a request without a memory limit has the default limit', () => {
    const message = { ...wire.toWireProtocol(setup), memoryLimitBytes: 0n };
    assert.equal(wire.fromWireProtocol(message, 7e9).limits.memoryLimitBytes, 7e9);
  });

  test('a request without an occasion is for the first', () => {
    assert.equal(wire.fromWireProtocol({ ...wire.toWireProtocol(setup), occasion: 0 }, 1).occasion, 1);
  });

  test('a request without a part that it needs is refused', () => {
    const parts = [
      wire.fromWireBenchmark,
      wire.fromWireRunOptions,
      (none: undefined) => wire.fromWireProtocol(none, 1),
    ];
    for (const part of parts) assert.throws(() => part(undefined), { code: 'usage' });
  });

  test('run options arrive as they were sent', () => {
    for (const optimizationLevel of OPTIMIZATION_LEVELS) {
      const options = { threads: 3, executionProvider: 'cpu', optimizationLevel };
      assert.deepEqual(wire.fromWireRunOptions(sent(messages.RunOptions, wire.toWireRunOptions(options))), options);
    }
    const session = ['enableMemPattern=0', 'session.disable_prepacking=1'];
    const further = { executionMode: 'parallel', interOpThreads: 2 } as const;
    const options = { threads: 3, executionProvider: 'CoreML', optimizationLevel: 'all', ...further, session } as const;
    assert.deepEqual(wire.fromWireRunOptions(sent(messages.RunOptions, wire.toWireRunOptions(options))), options);
  });

  test('run options of a client of an older version are the default', () => {
    const older = { ...messages.RunOptions.create(), threads: 1, executionProvider: 'cpu', optimizationLevel: 'all' };
    assert.deepEqual(wire.fromWireRunOptions(older), buildRunOptions(1));
    const spelledOut = { ...older, executionMode: 'sequential', interOpThreads: 1 };
    assert.deepEqual(wire.fromWireRunOptions(spelledOut), buildRunOptions(1));
  });

  test('inferred values arrive as they were sent', () => {
    const values = new Map<string, InferredValue>([
      ['float', { elementType: 'float32', dims: [1, 2] }],
      ['scalar', { elementType: 'int64', dims: [], content: Uint8Array.of(7, 0, 0, 0, 0, 0, 0, 0) }],
      ['empty', { elementType: 'int64', dims: [0], content: new Uint8Array() }],
      ['large', { elementType: 'int64', dims: [2000], minimum: -(2n ** 63n), maximum: 2n ** 63n - 1n }],
    ]);
    const arrived = wire.fromWireValues(
      sent(messages.InferTypesResponse, { values: wire.toWireValues(values) }).values,
    );
    const comparable = [...arrived].map(([name, value]) => {
      return [name, value.content === undefined ? value : { ...value, content: Uint8Array.from(value.content) }];
    });

    assert.deepEqual(comparable, [...values]);
  });

  test('an optimized graph arrives as it was sent', () => {
    const values = new Map<string, InferredValue>([['y', { elementType: 'float32', dims: [1, 2] }]]);
    const graph = { benchmark: relu, values, costMs: 12.5 };
    assert.deepEqual(wire.fromWireOptimized(sent(messages.OptimizeResponse, wire.toWireOptimized(graph))), graph);
  });

  test('values of a run arrive as they were sent', () => {
    const value: RunValue = {
      elementType: 'float32',
      dims: [2, 1],
      sha256: 'a'.repeat(64),
      norm: 2.5,
      notFinite: 1,
      first: [1, NaN],
      elements: [1, Infinity],
      stride: 1,
    };
    const arrived = (message: Partial<messages.RunValue>, asked = 2) => {
      const values = wire.toWireRunValues(new Map([['y', value]])).map((one) => ({ ...one, ...message }));
      return wire.fromWireRunValues(
        sent(messages.RunOnceResponse, { ...messages.RunOnceResponse.create(), values }).values,
        asked,
      );
    };
    assert.deepEqual([...arrived({})], [['y', value]]);
    assert.throws(() => arrived({}, 1), { code: 'usage', message: /^value y\.elements/ });
    assert.throws(() => arrived({ sha256: new Uint8Array(31) }), { code: 'usage', message: /^value y\.sha256/ });
    assert.throws(() => arrived({ notFinite: 2n ** 60n }), { code: 'usage', message: /^value y\.notFinite/ });
  });

  test('a brick arrives as it was sent, and progress of bricks', () => {
    const brick = { benchmark: relu, context: { footprintBytes: 2 ** 20 }, modelBytes: 123, roughMs: 0.5 };
    assert.deepEqual(wire.fromWireBrick(sent(messages.Brick, wire.toWireBrick(brick))), brick);
    for (const phase of ['waiting', 'preparing', 'running'] as const) {
      const progress = { phase, runsDone: 1, runsTotal: 5, index: 3, together: 4, waitsFor: 77 };
      const { value } = wire.toWireProgress(progress).event;
      assert.deepEqual(wire.fromWireProgress(sent(messages.Progress, value)), progress);
    }
    const newer = { ...messages.Progress.create(), phase: 99 as messages.Progress_Phase };
    assert.equal(wire.fromWireProgress(newer), undefined);
  });

  test('the message of a failure is cut after 2000 characters', () => {
    const messageOf = (length: number): unknown => {
      const outcome = { kind: 'failure', reason: 'crashed', message: 'x'.repeat(length) } as const;
      const message = wire.toWireMeasurement(relu.signature, { outcome, costMs: 1, sessionMs: 1, peakMemoryBytes: 1 });
      const place = { system, measuredAt: '2026-01-02T03:04:05.678Z' };
      const arrived = wire.fromWireMeasurement(message, { ...setup, benchmark: relu }, place).outcome;
      return arrived.kind === 'failure' && arrived.message;
    };
    assert.equal(messageOf(2000), 'x'.repeat(2000));
    assert.equal(messageOf(2001), `${'x'.repeat(2000)}…`);
  });

  test('a range that the message cannot hold is left out', () => {
    const value: InferredValue = { elementType: 'uint64', dims: [2000], minimum: 0n, maximum: 2n ** 63n };
    const [message] = wire.toWireValues(new Map([['x', value]]));
    assert.deepEqual([message?.minimum, message?.maximum], [undefined, undefined]);
  });
});
