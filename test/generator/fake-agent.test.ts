import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { ServerDuplexStream } from '@grpc/grpc-js';
import { PlatformError } from '../../src/base/errors.js';
import {
  LoadServiceService,
  type ServeRequest,
  type ServeResponse,
} from '../../src/generated/mlmodelscope/load/v1/load.js';
import { startGenerator } from '../../src/generator/start.js';
import { clockId } from '../../src/base/clock-id.js';
import { toWireConditions } from '../../src/agent/wire/benchmark-wire.js';
import { buildRunOptions } from '../../src/measurement/system.js';
import { MAX_MESSAGE_BYTES } from '../../src/rpc/limits.js';
import { createRpcServer } from '../../src/rpc/server.js';
import { matmul } from './support.js';

const CONDITIONS = toWireConditions({ wallMs: 1e6, cores: 2, othersMs: 1e6 });

/** An agent of another machine, which answers at once. @param nowMs its clock */
async function generatorFor(
  t: TestContext,
  nowMs: () => number,
  onQueries: (count: number) => void,
  ofMachine = 'of another machine',
) {
  const server = createRpcServer();
  t.after(() => server.close(new PlatformError('unavailable', 'the test has ended')));
  const serve = (call: ServerDuplexStream<ServeRequest, ServeResponse>): void => {
    const nowNs = (): bigint => BigInt(Math.round(nowMs() * 1e6));
    call.on('data', ({ request }: ServeRequest) => {
      if (request?.$case === 'open') call.write({ event: { $case: 'ready', value: { clockId: ofMachine } } });
      if (request?.$case === 'readClock') call.write({ event: { $case: 'clock', value: { nowNs: nowNs() } } });
      if (request?.$case !== 'queries') return;
      const { queries } = request.value;
      onQueries(queries.length);
      const times = { startedNs: nowNs(), finishedNs: nowNs(), batch: 1, error: '' };
      call.write({ event: { $case: 'answers', value: { answers: queries.map(({ id }) => ({ id, ...times })) } } });
    });
    call.on('end', () => {
      call.write({ event: { $case: 'closed', value: { conditions: CONDITIONS, peakMemoryBytes: 0n } } });
      call.end();
    });
  };
  server.addService(LoadServiceService, { serve }, { maxRequestBytes: { serve: MAX_MESSAGE_BYTES } });
  const reach = { address: await server.listen({ host: '127.0.0.1', port: 0 }), options: {} };
  const request = {
    name: 'tiny',
    models: new Map([[1, matmul(1)]]),
    runOptions: buildRunOptions(1),
    batching: { limit: 1, waitMs: 0 },
    warmupRuns: 1,
    limits: { timeLimitMs: 60_000, memoryLimitBytes: 2 ** 30 },
  };
  const { signal } = new AbortController();
  const generator = await startGenerator([{ kind: 'agent', reach, request }], { signal, warmupSamples: 1 });
  t.after(() => generator.kill());
  return generator;
}

/** A message takes less, also on a busy machine. The clock's errors in these tests are larger. */
const TOLERANCE_MS = 5000;

const OPEN = { dispatch: 'turns', seed: 1, limit: 1 } as const;

test('the clock of another machine is read before and after a trial', async (t) => {
  let aheadMs = 50_000;
  let queries = 0;
  const nowMs = (): number => performance.now() + aheadMs;
  const generator = await generatorFor(t, nowMs, () => {
    // In the middle of the first trial; the queries before it warm up.
    if (++queries === 15) aheadMs += 20_000;
  });
  const arrivals = Array.from({ length: 20 }, (_, index) => ({ atMs: 10 * index, samples: 1 }));
  const trial = () => generator.trial({ ...OPEN, plan: { kind: 'open', arrivals } });
  const { clockDriftMs = NaN, records } = await trial();
  assert.ok(Math.abs(clockDriftMs - 20_000) < TOLERANCE_MS, `${clockDriftMs}`);
  // Moments are converted by the offset before.
  const [first] = records;
  assert.ok(first && Math.abs(first.finishedMs - first.sentMs) < TOLERANCE_MS, JSON.stringify(first));
  const next = await trial();
  assert.ok(Math.abs(next.clockDriftMs ?? NaN) < TOLERANCE_MS, `${next.clockDriftMs}`);
  await generator.close();
});

test('many queries of one moment are several messages', async (t) => {
  const sizes: number[] = [];
  const generator = await generatorFor(
    t,
    () => performance.now(),
    (count) => sizes.push(count),
  );
  const warmups = sizes.length;
  const arrivals = Array.from({ length: 25_000 }, () => ({ atMs: 0, samples: 1 }));
  const { end, records } = await generator.trial({ ...OPEN, plan: { kind: 'open', arrivals } });
  assert.deepEqual([end.kind, records.length], ['complete', 25_000]);
  assert.deepEqual(sizes.slice(warmups), [10_000, 10_000, 5000]);
  await generator.close();
});

test('the processor time of the generator is no other process of its machine', async (t) => {
  const othersMsOn = async (machine?: string): Promise<number> => {
    const generator = await generatorFor(
      t,
      () => performance.now(),
      () => undefined,
      machine,
    );
    const arrivals = Array.from({ length: 20 }, (_, index) => ({ atMs: 5 * index, samples: 1 }));
    await generator.trial({ ...OPEN, plan: { kind: 'open', arrivals } });
    const [end] = await generator.close();
    return end?.conditions?.othersMs ?? NaN;
  };
  assert.equal(await othersMsOn(), 1e6);
  const here = await othersMsOn(clockId());
  assert.ok(here < 1e6 && here > 0, `${here}`);
});
