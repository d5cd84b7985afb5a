import { status } from '@grpc/grpc-js';
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { toWireBenchmark, toWireProtocol, toWireRunOptions } from '../../../src/agent/wire/benchmark-wire.js';
import {
  type Benchmark,
  BenchmarkServiceService,
  type Input,
  type MeasureRequest,
  type Protocol,
  type RunOptions,
} from '../../../src/generated/mlmodelscope/benchmark/v1/benchmark.js';
import { TraceServiceService } from '../../../src/generated/mlmodelscope/trace/v1/trace.js';
import { assertStatus, hasStatus, type RawClient, rawClient } from '../support/raw-client.js';
import { agentForSuite } from '../support/running-agent.js';
import { matMul, protocol, relu, runOptions } from '../support/tiny-benchmarks.js';
import { measureOne, setupOf } from '../support/measure-one.js';

const { describeSystem, inferTypes, measure, measureBricks, optimize } = BenchmarkServiceService;
const { traceBenchmark } = TraceServiceService;

function request({ benchmark = {}, options = {}, plan = {} }: Changes = {}): MeasureRequest {
  return {
    benchmark: { ...toWireBenchmark(matMul), ...benchmark },
    runOptions: { ...toWireRunOptions(runOptions), ...options },
    protocol: { ...toWireProtocol(setupOf(protocol)), ...plan },
  };
}

interface Changes {
  readonly benchmark?: Partial<Benchmark>;
  readonly options?: Partial<RunOptions>;
  readonly plan?: Partial<Protocol>;
}

function withInputs(change: Partial<Input>): Changes {
  return { benchmark: { inputs: toWireBenchmark(matMul).inputs.map((input) => ({ ...input, ...change })) } };
}

describe('hostile requests', { timeout: 300_000 }, () => {
  const agent = agentForSuite();
  let client: RawClient;
  before(() => {
    client = rawClient(agent().address);
  });
  after(() => client.close());

  afterEach(async () => {
    const { outcome } = await measureOne(agent().client, relu, runOptions, protocol);
    assert.equal(outcome.kind, 'samples');
  });

  const invalid: readonly [string, Changes, RegExp][] = [
    ['an invalid signature', { benchmark: { signature: '../../etc' } }, /benchmark\.signature/],
    ['no model', { benchmark: { model: new Uint8Array() } }, /benchmark\.model/],
    ['an invalid model', { benchmark: { model: new Uint8Array(1000).fill(255) } }, /not an ONNX file/],
    ['inputs that the model does not have', { benchmark: { inputs: [] } }, /the fill of/],
    ['an input without a name', withInputs({ name: '' }), /\.name/],
    ['two inputs of one name', withInputs({ name: 'x' }), /same name/],
    ['an input without a role', withInputs({ role: 0 }), /role/],
    ['an unknown element type', withInputs({ elementType: 'complex64' }), /elementType/],
    ['an element type of Object', withInputs({ elementType: 'constructor' }), /elementType/],
    ['dimensions beyond any memory', withInputs({ dims: [2n ** 40n, 2n ** 20n] }), /bytes in all/],
    ['a dimension beyond the largest number', withInputs({ dims: [2n ** 64n - 1n] }), /dims/],
    ['a rank that is too high', withInputs({ dims: new Array<bigint>(65).fill(1n) }), /dims/],
    ['a range that is not a number', withInputs({ low: NaN }), /low/],
    ['an infinite range', withInputs({ high: Infinity }), /high/],
    ['a reversed range', withInputs({ low: 1, high: -1 }), /low is above high/],
    ['no threads', { options: { threads: 0 } }, /threads/],
    ['too many threads', { options: { threads: 100_000 } }, /threads/],
    ['more threads than cores', { options: { threads: 1024 } }, /threads: 1024 threads on \d+ cores?/],
    ['an unknown optimization level', { options: { optimizationLevel: 'most' } }, /optimizationLevel/],
    ['an unknown execution mode', { options: { executionMode: 'fast' } }, /executionMode/],
    ['too many inter-op threads', { options: { interOpThreads: 100_000 } }, /interOpThreads/],
    [
      'more inter-op threads than cores',
      { options: { executionMode: 'parallel', interOpThreads: 1024 } },
      /inter_op_threads: 1024 threads on \d+ cores?/,
    ],
    ['an unknown key of the session', { options: { session: ['session.load=/tmp/evil.so'] } }, /session\.load/],
    ['a strange value of a key', { options: { session: ['enableMemPattern=yes'] } }, /enableMemPattern/],
    ['a strange execution provider', { options: { executionProvider: '/tmp/evil.so' } }, /executionProvider/],
    ['no runs', { plan: { runs: 0 } }, /runs/],
    ['too many runs', { plan: { runs: 4_000_000_000 } }, /runs/],
    ['no time limit', { plan: { timeLimit: undefined } }, /timeLimitMs/],
    ['a time limit of years', { plan: { timeLimit: { seconds: 10n ** 9n, nanos: 0 } } }, /timeLimitMs/],
    ['a negative time budget', { plan: { timeBudget: { seconds: -1n, nanos: 0 } } }, /timeBudgetMs/],
  ];
  for (const [name, changes, details] of invalid) {
    test(`${name}: refused, and the details name the place`, async () => {
      await assertStatus(client.stream(measure, request(changes)), status.INVALID_ARGUMENT, details);
    });
  }

  test('a model of any other bytes is refused by every call', async () => {
    const { benchmark, runOptions, protocol } = request();
    const steeringValues = false;
    for (const model of [Buffer.from('garbage'), new Uint8Array(1000).fill(255), Uint8Array.of(0x3a, 0x7f)]) {
      const garbled = { ...(benchmark ?? assert.fail('a request has a benchmark')), model };
      const brick = { benchmark: garbled, footprintBytes: 2n ** 20n, modelBytes: 0n, roughMs: 1 };
      const calls = [
        () => client.stream(measure, { benchmark: garbled, runOptions, protocol, name: 'garbled' }),
        () => client.stream(measureBricks, { bricks: [brick], runOptions, protocol }),
        () => client.unary(inferTypes, { benchmark: garbled, steeringValues }),
        () => client.unary(optimize, { benchmark: garbled, runOptions, steeringValues }),
        () => client.stream(traceBenchmark, { benchmark: garbled, runOptions, protocol, level: 1 }),
      ];
      for (const [index, call] of calls.entries()) {
        await assert.rejects(
          call(),
          hasStatus(status.INVALID_ARGUMENT, /not an? (readable )?ONNX file/),
          `call ${index}`,
        );
      }
    }
  });

  test('an empty request is refused', async () => {
    const empty: MeasureRequest = { benchmark: undefined, runOptions: undefined, protocol: undefined };
    await assertStatus(client.stream(measure, empty), status.INVALID_ARGUMENT);
    const asked = client.unary(inferTypes, { benchmark: undefined, steeringValues: false });
    await assertStatus(asked, status.INVALID_ARGUMENT);
    await assertStatus(client.unary(describeSystem, { runOptions: undefined }), status.INVALID_ARGUMENT);
  });

  const bytes = (content: Buffer) => ({ ...measure, requestSerialize: () => content });

  test('a damaged request is refused', async () => {
    const content = measure.requestSerialize(request()).subarray(0, 40);
    await assertStatus(client.stream(bytes(content), request()), status.INVALID_ARGUMENT, /damaged/);
  });

  test('a small message that would be gigabytes of objects is refused', async () => {
    // A benchmark of 8 million inputs without content, two bytes each.
    const inputs = Buffer.alloc(16 * 2 ** 20, Uint8Array.of(0x1a, 0x00));
    const length = Buffer.from([0x80, 0x80, 0x80, 0x08]);
    const content = Buffer.concat([Uint8Array.of(0x0a), length, inputs]);
    const asked = client.stream(bytes(content), request());
    await assertStatus(asked, status.INVALID_ARGUMENT, /more than the 524288 values/);
  });

  test('a message beyond 64 MiB is refused', async () => {
    const content = Buffer.alloc(65 * 2 ** 20);
    await assertStatus(client.stream(bytes(content), request()), status.RESOURCE_EXHAUSTED);
  });
});
