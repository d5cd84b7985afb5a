import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectAgent } from '../../../src/agent/client/agent-client.js';
import { addBenchmarkService } from '../../../src/agent/services/benchmark-service.js';
import { describeAgent } from '../../../src/agent/services/describe-machine.js';
import { WorkerRunner } from '../../../src/agent/worker/worker-runner.js';
import { PlatformError } from '../../../src/base/errors.js';
import { createRpcServer } from '../../../src/rpc/server.js';
import { benchmarkOf, relu, runOptions } from '../support/tiny-benchmarks.js';

const REFUSED = new PlatformError('usage', 'this runner only records');

class RecordingRunner extends WorkerRunner {
  readonly untimed: unknown[] = [];

  override run(...[, , options]: Parameters<WorkerRunner['run']>): Promise<never> {
    this.untimed.push(options?.untimed);
    return Promise.reject(REFUSED);
  }
}

test('graphs that may take all memory of the limit are optimized and typed alone, others beside each other', async (t) => {
  const description = describeAgent('onnxruntime');
  const runner = new RecordingRunner('onnxruntime', description.cores);
  const server = createRpcServer();
  addBenchmarkService(server, { description, runner, weightFiles: new Map() });
  const agent = await connectAgent(await server.listen({ host: '127.0.0.1', port: 0 }));
  t.after(async () => {
    await agent.close();
    await server.close(REFUSED);
  });
  const large = benchmarkOf({
    inputs: { x: { dims: [description.memoryBytes / 4] } },
    nodes: [{ opType: 'Relu', inputs: ['x'], outputs: ['y'] }],
    outputs: ['y'],
  });
  for (const benchmark of [relu, large]) {
    await assert.rejects(agent.optimize(benchmark, runOptions), /only records/);
    await assert.rejects(agent.inferTypes(benchmark), /only records/);
  }
  assert.deepEqual(runner.untimed, [true, true, false, false]);
});
