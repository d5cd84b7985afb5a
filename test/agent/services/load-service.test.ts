import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import type { ClientDuplexStream } from '@grpc/grpc-js';
import { assertRefused } from '../../rpc/support/refusal.js';
import { connectAgent } from '../../../src/agent/client/agent-client.js';
import { addBenchmarkService } from '../../../src/agent/services/benchmark-service.js';
import { describeAgent } from '../../../src/agent/services/describe-machine.js';
import { addLoadService } from '../../../src/agent/services/load-service.js';
import { conditionsIn, toWireOpen } from '../../../src/agent/wire/load-wire.js';
import { WorkerRunner } from '../../../src/agent/worker/worker-runner.js';
import {
  type Closed,
  LoadServiceService,
  type ServeRequest,
  type ServeResponse,
} from '../../../src/generated/mlmodelscope/load/v1/load.js';
import { whileServing } from '../../../plugins/load/serve.js';
import { buildRunOptions, type RunOptions } from '../../../src/measurement/system.js';
import { PlatformError } from '../../../src/base/errors.js';
import { createRpcClient } from '../../../src/rpc/client.js';
import { createRpcServer } from '../../../src/rpc/server.js';
import { matmul } from '../../generator/support.js';
import { agentForSuite } from '../support/running-agent.js';

const SILENCE_LIMIT_MS = 400;
const READ_CLOCK: ServeRequest = { request: { $case: 'readClock', value: {} } };

const tinyRequest = (runOptions: RunOptions) => ({
  name: 'tiny',
  models: new Map([[1, matmul(1)]]),
  runOptions,
  batching: { limit: 1, waitMs: 0 },
  warmupRuns: 1,
  limits: { timeLimitMs: 60_000, memoryLimitBytes: 2 ** 30 },
});

describe('a client of a load run that is silent', { timeout: 300_000 }, () => {
  const agent = agentForSuite({ silenceLimitMs: SILENCE_LIMIT_MS });

  async function serve(use: (call: ClientDuplexStream<ServeRequest, ServeResponse>) => Promise<void>): Promise<void> {
    const client = createRpcClient(agent().address, 'agent');
    try {
      await use(client.duplex(LoadServiceService.serve, { deadlineMs: 100_000 }));
    } finally {
      client.close();
    }
  }

  function open(call: ClientDuplexStream<ServeRequest, ServeResponse>): Promise<void> {
    const request = tinyRequest(buildRunOptions(1, agent().client.description));
    return new Promise((resolve) => {
      call.on('data', ({ event }: ServeResponse) => {
        if (event?.$case === 'ready') resolve();
      });
      call.write({ request: { $case: 'open', value: toWireOpen(request) } });
    });
  }

  test('loses its call before it opens a model, and its turn afterwards', async () => {
    await serve(async (call) => {
      const [error] = (await once(call, 'error')) as [Error];
      assert.match(error.message, /the client sent nothing for 0\.4 s/);
    });
    await serve(async (call) => {
      await open(call);
      const [error] = (await once(call, 'error')) as [Error];
      assert.match(error.message, /the client sent nothing for 0\.4 s.*reads the clock/);
    });
    // The turn is free.
    await serve(async (call) => {
      await open(call);
      call.end();
      await once(call, 'end');
    });
  });

  test('keeps its turn while it reads the clock', async () => {
    await serve(async (call) => {
      await open(call);
      const failed = once(call, 'error').then(([error]) => Promise.reject(error as Error));
      failed.catch(() => undefined);
      for (let read = 0; read < 12; read++) {
        call.write(READ_CLOCK);
        await Promise.race([failed, new Promise((resolve) => setTimeout(resolve, SILENCE_LIMIT_MS / 8))]);
      }
      call.end();
      await Promise.race([failed, once(call, 'end')]);
    });
  });
});

test('an agent of a version without load runs is named before it is called', async (t) => {
  const all = describeAgent('onnxruntime');
  const description = { ...all, abilities: all.abilities.filter((ability) => ability !== 'load') };
  const server = createRpcServer();
  const runner = new WorkerRunner('onnxruntime', description.cores);
  addBenchmarkService(server, { description, runner, weightFiles: new Map() });
  const address = await server.listen({ host: '127.0.0.1', port: 0 });
  const agent = await connectAgent(address);
  t.after(async () => {
    await agent.close();
    await server.close(new PlatformError('unavailable', 'the test has ended'));
  });
  const place = {
    agent,
    signal: new AbortController().signal,
    runOptions: buildRunOptions(1, description),
    onWaiting: () => undefined,
  };
  const asked = { samples: [1], limit: 1, waitMs: 0 };
  await assertRefused(
    whileServing('tiny', new Map([[1, matmul(1)]]), asked, place, () => Promise.resolve()),
    'unsupported',
    /is of a version without load runs; install this version there/,
  );
});

test("the agent's own processor time is no other process of its machine", async (t) => {
  const conditions = { wallMs: 1e6, cores: 2, othersMs: 1e6 };
  const run = async (...[, , hooks]: Parameters<WorkerRunner['run']>): Promise<object> => {
    await new Promise<void>((resolve) => {
      hooks?.onServing?.(({ kind }) => (kind === 'end' ? resolve() : undefined));
    });
    return { end: { kind: 'served', served: { conditions, peakMemoryBytes: 0 } } };
  };
  const server = createRpcServer();
  const runner = { run } as unknown as WorkerRunner;
  addLoadService(server, { description: describeAgent('onnxruntime'), runner, weightFiles: new Map() });
  const client = createRpcClient(await server.listen({ host: '127.0.0.1', port: 0 }), 'agent');
  t.after(async () => {
    client.close();
    await server.close(new PlatformError('unavailable', 'the test has ended'));
  });
  const call = client.duplex(LoadServiceService.serve, { deadlineMs: 100_000 });
  const closed = new Promise<Closed>((resolve, reject) => {
    call.on('error', reject);
    call.on('data', ({ event }: ServeResponse) => {
      if (event?.$case === 'ready') call.end();
      if (event?.$case === 'closed') resolve(event.value);
    });
  });
  call.write({ request: { $case: 'open', value: toWireOpen(tinyRequest(buildRunOptions(1))) } });
  const { othersMs = NaN } = conditionsIn(await closed) ?? {};
  assert.ok(othersMs < 1e6 && othersMs > 0, `${othersMs}`);
});
