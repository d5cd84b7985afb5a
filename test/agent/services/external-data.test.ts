import { status } from '@grpc/grpc-js';
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { toWireBenchmark, toWireProtocol, toWireRunOptions } from '../../../src/agent/wire/benchmark-wire.js';
import { BenchmarkServiceService } from '../../../src/generated/mlmodelscope/benchmark/v1/benchmark.js';
import { TraceLevel, TraceServiceService } from '../../../src/generated/mlmodelscope/trace/v1/trace.js';
import type { Benchmark } from '../../../src/measurement/benchmark.js';
import { parseModel } from '../../../src/onnx/read/read-model.js';
import { modelsWithExternalTensor, modelWithTrainingInfo } from '../../onnx/external-places.js';
import { signatureOf } from '../../store/sample-measurement.js';
import { measuringProcessesOf, needsLinux } from '../support/processes.js';
import { until } from '../../support/until.js';
import { hasStatus, type RawClient, rawClient } from '../support/raw-client.js';
import { agentForSuite } from '../support/running-agent.js';
import { measureOne, setupOf } from '../support/measure-one.js';
import { protocol, relu, runOptions } from '../support/tiny-benchmarks.js';

const { inferTypes, optimize, measure } = BenchmarkServiceService;
const { traceBenchmark } = TraceServiceService;

/** A file in the folder in which this agent was started. It stands for a secret, such as a user's token. */
const SECRET = 'package.json';

const refused = hasStatus(status.INVALID_ARGUMENT, /values of a tensor (in another|are in an external) file/);

const SHAPES: Readonly<Record<string, { readonly elementType: 'float32' | 'bool'; readonly dims: readonly number[] }>> =
  {
    x: { elementType: 'float32', dims: [1, 4] },
    c: { elementType: 'bool', dims: [1] },
  };

function benchmarkOf(model: Uint8Array, inputs: readonly string[]): Benchmark {
  const fill = { low: 0, high: 1, seed: 1 };
  const filled = inputs.map((name) => ({ name, role: 'activation' as const, ...SHAPES[name]!, fill }));
  return { signature: signatureOf(1), model, inputs: filled };
}

describe('a benchmark that names a file of the agent', { timeout: 300_000 }, () => {
  const agent = agentForSuite();
  let client: RawClient;
  before(() => {
    client = rawClient(agent().address);
  });
  after(() => client.close());

  const sent = toWireRunOptions(runOptions);
  for (const [place, model] of modelsWithExternalTensor(SECRET)) {
    const benchmark = toWireBenchmark(benchmarkOf(model, place.includes('branch') ? ['x', 'c'] : ['x']));
    test(`in ${place} is refused`, async () => {
      await assert.rejects(client.unary(optimize, { benchmark, runOptions: sent, steeringValues: false }), refused);
    });
  }

  test('is refused by every other method as well', async () => {
    const model = modelsWithExternalTensor(SECRET).get('an initializer') ?? assert.fail();
    const benchmark = toWireBenchmark(benchmarkOf(model, ['x']));
    const plan = { benchmark, runOptions: sent, protocol: toWireProtocol(setupOf(protocol)) };
    await assert.rejects(client.unary(inferTypes, { benchmark, steeringValues: false }), refused);
    await assert.rejects(client.stream(measure, plan), refused);
    await assert.rejects(client.stream(traceBenchmark, { ...plan, level: TraceLevel.FRAMEWORK }), refused);
  });

  test('by an address in the memory of the runtime is refused as well', async () => {
    // ONNX Runtime's marker of a tensor that is already in memory; the offset is its address.
    const model = modelsWithExternalTensor('*/_ORT_MEM_ADDR_/*').get('an initializer');
    const benchmark = toWireBenchmark(benchmarkOf(model ?? new Uint8Array(), ['x']));
    await assert.rejects(client.unary(inferTypes, { benchmark, steeringValues: false }), refused);
  });

  test('in its training info runs without this info', async () => {
    const benchmark = toWireBenchmark(benchmarkOf(modelWithTrainingInfo(SECRET), ['x']));
    const { values } = await client.unary(inferTypes, { benchmark, steeringValues: false });
    assert.deepEqual(
      values.map(({ name }) => name),
      ['y'],
    );
  });

  test('an optimized graph that comes back contains its values', async () => {
    const { benchmark } = await agent().client.optimize(relu, runOptions);
    assert.doesNotThrow(() => parseModel(benchmark.model, 'optimized'));
  });
});

describe('a worker process', { skip: needsLinux, timeout: 300_000 }, () => {
  const agent = agentForSuite();

  test('works in an empty folder of its own, which is removed when the process ends', async () => {
    await measureOne(agent().client, relu, runOptions, protocol);
    const [pid = 0] = measuringProcessesOf(process.pid);
    const folder = readlinkSync(`/proc/${pid}/cwd`);
    assert.notEqual(folder, process.cwd());
    assert.deepEqual(readdirSync(folder), []);
    process.kill(pid, 'SIGKILL');
    await until(() => !existsSync(folder));
  });
});
