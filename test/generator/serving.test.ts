import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { after, describe, test } from 'node:test';
import { numbersIn } from '../../src/base/core-affinity.js';
import { type LoadGenerator, startGenerator } from '../../src/generator/start.js';
import { mean } from '../../src/base/mean.js';
import { nearestRank } from '../../src/load/percentiles.js';
import { type Arrival, poissonArrivals } from '../../src/load/schedule.js';
import { summarizeTrial } from '../../src/load/summary.js';
import { buildRunOptions } from '../../src/measurement/system.js';
import { agentForSuite } from '../agent/support/running-agent.js';
import { measuringProcessesOf, needsLinux } from '../agent/support/processes.js';
import { relu } from '../agent/support/tiny-benchmarks.js';
import { assertSomeRatio } from '../support/some-ratio.js';
import { until } from '../support/until.js';
import { matmul } from './support.js';

const needsTwoCores = needsLinux || (availableParallelism() > 1 ? false : 'needs two cores');

describe('a generator with an agent', () => {
  const agent = agentForSuite();
  const started: LoadGenerator[] = [];

  after(() => started.forEach((one) => one.kill()));

  async function start(
    limit = 1,
    waitMs = 0,
    signal = new AbortController().signal,
    warmupSamples = 1,
  ): Promise<LoadGenerator> {
    const { client } = agent();
    const [reach] = client.reaches?.() ?? [];
    assert.ok(reach);
    const sizes = Array.from({ length: limit }, (_, index) => index + 1);
    const request = {
      name: 'tiny',
      models: new Map(sizes.map((samples) => [samples, matmul(samples)])),
      runOptions: buildRunOptions(1, client.description),
      batching: { limit, waitMs },
      warmupRuns: 1,
      limits: { timeLimitMs: 60_000, memoryLimitBytes: 2 ** 30 },
    };
    const generator = await startGenerator([{ kind: 'agent', reach, request }], { signal, warmupSamples });
    started.push(generator);
    return generator;
  }

  test('answers every query of a schedule, in order, with moments that fit', async () => {
    const generator = await start();
    const arrivals = poissonArrivals({ perSecond: 200, queries: 200, seed: 3 });
    const trial = await generator.trial({ plan: { kind: 'open', arrivals }, dispatch: 'turns', seed: 1, limit: 1 });
    assert.deepEqual(trial.end, { kind: 'complete' });
    assert.deepEqual(
      trial.records.map(({ scheduledMs }) => scheduledMs),
      arrivals.map(({ atMs }) => atMs),
    );
    let freeMs = 0;
    for (const { scheduledMs, sentMs, startedMs, finishedMs, batch, error } of trial.records) {
      assert.ok(startedMs !== null && scheduledMs <= sentMs && sentMs <= startedMs && startedMs < finishedMs);
      assert.ok(freeMs <= startedMs, 'one run at a time');
      assert.equal(batch, 1);
      assert.equal(error, null);
      freeMs = finishedMs;
    }
    const summary = summarizeTrial(trial.records, trial, { bound: undefined, servers: 1, isOpen: true });
    // Answers are on their way for a moment, and never come before their runs end.
    assert.ok((summary.littleError ?? -1) > 0, `Little's law is off by ${summary.littleError}`);
    assert.equal(trial.clockDriftMs, 0);
    // A second trial uses the same open model.
    const plan = { kind: 'closed', clients: 2, thinkMs: [0], samples: 1, queries: 20, leastMs: 0 } as const;
    const again = await generator.trial({ plan, dispatch: 'turns', seed: 1, limit: 1 });
    assert.equal(again.end.kind, 'complete');
    assert.ok(again.records.length >= 20 && again.longestQueue <= 2);
    await generator.close();
  });

  test('forms batches of the queries that wait', async () => {
    const generator = await start(4, 0);
    const arrivals = Array.from({ length: 40 }, () => ({ atMs: 0, samples: 1 }));
    const trial = await generator.trial({ plan: { kind: 'open', arrivals }, dispatch: 'turns', seed: 1, limit: 4 });
    assert.deepEqual(trial.end, { kind: 'complete' });
    const { meanBatch } = summarizeTrial(trial.records, trial, { bound: undefined, servers: 1, isOpen: true });
    assert.ok(meanBatch !== null && meanBatch > 3, `${meanBatch}`);
    await generator.close();
  });

  test('the queries that a trial leaves keep none of the next one waiting', async () => {
    const generator = await start();
    const every = (ms: number, count: number) =>
      Array.from({ length: count }, (_, index) => ({ atMs: index * ms, samples: 1 }));
    const trialOf = (arrivals: readonly Arrival[]) => {
      return generator.trial({ plan: { kind: 'open', arrivals }, dispatch: 'turns', seed: 1, limit: 1 });
    };
    /** Median wait of a query, over the time that the queries take which the trial before leaves. */
    const measure = async (): Promise<number> => {
      const overload = await trialOf(every(0.001, 5000));
      assert.equal(overload.end.kind, 'cut');
      assert.equal(overload.unanswered.length, 1001);
      const next = await trialOf(every(2, 21));
      assert.equal(next.end.kind, 'complete');
      const waits = next.records.map(({ startedMs, scheduledMs }) => (startedMs ?? Infinity) - scheduledMs);
      const runMs = mean(next.records.map(({ startedMs, finishedMs }) => finishedMs - (startedMs ?? NaN)));
      return nearestRank(Float64Array.from(waits).sort(), 0.5) / (overload.unanswered.length * runMs);
    };
    await assertSomeRatio(measure, (ratio) => ratio < 0.25);
    await generator.close();
  });

  test('a query that no opened model takes fails alone', async () => {
    const generator = await start();
    const arrivals = [1, 3, 1].map((samples, index) => ({ atMs: index, samples }));
    const { end, records } = await generator.trial({
      plan: { kind: 'open', arrivals },
      dispatch: 'turns',
      seed: 1,
      limit: 1,
    });
    assert.equal(end.kind, 'complete');
    assert.deepEqual(
      records.map(({ error }) => error),
      [null, 'no model was opened for runs of 3 samples', null],
    );
    await generator.close();
  });

  test('a process of the model that is killed makes the trial fail and is named', { skip: needsLinux }, async () => {
    const generator = await start();
    const plan = { kind: 'closed', clients: 1, thinkMs: [1], samples: 1, queries: 100_000, leastMs: 0 } as const;
    const running = generator.trial({ plan, dispatch: 'turns', seed: 1, limit: 1 });
    const [pid] = measuringProcessesOf(process.pid).filter((one) => one > 0);
    assert.ok(pid !== undefined);
    process.kill(pid, 'SIGKILL');
    const { end } = await running;
    assert.equal(end.kind, 'failed');
    assert.match(end.kind === 'failed' ? end.reason : '', /the worker process was killed/);
    await assert.rejects(generator.close(), /the worker process was killed/);
  });

  test('the model and the generator run on different cores during a trial', { skip: needsTwoCores }, async () => {
    const generator = await start();
    const plan = { kind: 'closed', clients: 1, thinkMs: [1], samples: 1, queries: 20, leastMs: 0 } as const;
    await generator.trial({ plan, dispatch: 'turns', seed: 1, limit: 1 });
    const coresOf = (pid: number): readonly number[] => {
      return numbersIn(/^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? '');
    };
    const all = coresOf(process.pid);
    const [worker] = measuringProcessesOf(process.pid).filter((one) => one > 0);
    assert.ok(worker !== undefined);
    assert.deepEqual(coresOf(worker), all.slice(0, -1));
    await generator.close();
    await until(() => coresOf(worker).length === all.length);
  });

  test('an interruption ends a trial with the queries so far', async () => {
    const stop = new AbortController();
    const generator = await start(1, 0, stop.signal);
    const arrivals = poissonArrivals({ perSecond: 100, queries: 100_000, seed: 3 });
    setTimeout(() => stop.abort(), 1000);
    const { end, records } = await generator.trial({
      plan: { kind: 'open', arrivals },
      dispatch: 'turns',
      seed: 1,
      limit: 1,
    });
    assert.equal(end.kind, 'cancelled');
    assert.ok(records.length > 0 && records.length < 1000);
    await generator.close();
  });

  test('an interruption waits for no query that the server still has', async () => {
    const stop = new AbortController();
    // A single query waits for another one.
    const generator = await start(2, 50_000, stop.signal, 2);
    const plan = { kind: 'open', arrivals: [{ atMs: 0, samples: 1 }] } as const;
    setTimeout(() => stop.abort(), 200);
    const { end, unanswered } = await generator.trial({ plan, dispatch: 'turns', seed: 1, limit: 2 });
    assert.deepEqual([end.kind, unanswered.length], ['cancelled', 1]);
    const startMs = performance.now();
    assert.deepEqual(await generator.close(), []);
    assert.ok(performance.now() - startMs < 25_000);
  });

  test('a model that the runtime refuses is refused at once', async () => {
    const { client } = agent();
    const [reach] = client.reaches?.() ?? [];
    assert.ok(reach);
    const broken = { ...relu, model: new Uint8Array([1, 2, 3]) };
    const request = {
      name: 'broken',
      models: new Map([[1, broken]]),
      runOptions: buildRunOptions(1, client.description),
      batching: { limit: 1, waitMs: 0 },
      warmupRuns: 1,
      limits: { timeLimitMs: 60_000, memoryLimitBytes: 2 ** 30 },
    };
    const { signal } = new AbortController();
    await assert.rejects(startGenerator([{ kind: 'agent', reach, request }], { signal, warmupSamples: 1 }), {
      code: 'usage',
    });
  });
});
