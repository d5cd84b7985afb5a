import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { collect } from '../../src/base/collect.js';
import { evaluationCollections, type EvaluationRecord } from '../../src/evaluation/records.js';
import type { EvaluationLeases } from '../../src/server/jobs.js';
import { openMemoryStore } from '../../src/store/memory/open.js';
import { assertRefused } from '../rpc/support/refusal.js';
import { until } from '../support/until.js';
import { AGENT, directoryWith, openPlatform, SOLE_LEASES, submitted, takenByAnother } from './fake-platform.js';
import { patient } from './scripted-evaluation.js';

const ID = 'evaluation-1';
const AT = '2026-01-01T00:00:00.000Z';
const WATCH_MS = 5;

function recordOf(id: string, state: EvaluationRecord['state']): EvaluationRecord {
  const others = { name: 'tiny', plugin: 'fake', digest: '', attempts: 1, traceContext: {} } as const;
  return { ...others, id, state, submittedAt: AT, changedAt: AT };
}

/** Another server owns all evaluations. */
const NOTHING_OWNED: EvaluationLeases = { ...SOLE_LEASES, take: takenByAnother };

async function beside(t: TestContext, leases: EvaluationLeases, agents = directoryWith(AGENT.address), resume = true) {
  const store = await openMemoryStore();
  // The servers of a shared store adopt only what they can run.
  Object.defineProperty(store, 'isShared', { value: true });
  const limits = { watchMs: WATCH_MS, retryMs: WATCH_MS };
  const { platform, attach } = await openPlatform({ store, leases, agents, limits }, { resume });
  t.after(() => platform.close());
  return { store, platform, attach, ...evaluationCollections(store) };
}

describe('an evaluation that another server runs', { timeout: 60_000 }, () => {
  it('is cancelled by asking that server, which ends it', async (t) => {
    const { platform, records, cancellations } = await beside(t, NOTHING_OWNED);
    await records.put(recordOf(ID, 'running'));
    const cancelled = platform.cancel(ID);
    await until(async () => (await cancellations.get({ evaluation: ID })) !== undefined);
    await records.put(recordOf(ID, 'cancelled'));
    assert.equal((await cancelled).state, 'cancelled');
    await until(async () => (await cancellations.get({ evaluation: ID })) === undefined);
    assert.equal((await platform.cancel(ID)).state, 'cancelled');
    assert.equal(await cancellations.get({ evaluation: ID }), undefined, 'it has ended');
  });

  it('is waited for while this server is there', async (t) => {
    const { platform, records } = await beside(t, NOTHING_OWNED);
    await records.put(recordOf(ID, 'running'));
    const cancelled = platform.cancel(ID);
    platform.close();
    await assertRefused(cancelled, 'timeout', /^another server runs the evaluation evaluation-1 and has not/);
    await assertRefused(platform.cancel('evaluation-2'), 'not_found');
  });

  it('is waited for during 24 s, less than a client waits', async (t) => {
    const { platform, records, cancellations } = await beside(t, NOTHING_OWNED);
    await records.put(recordOf(ID, 'running'));
    const startMs = performance.now();
    let passedMs = 0;
    t.mock.method(performance, 'now', () => startMs + passedMs);
    let isOver = false;
    const cancelled = platform.cancel(ID).finally(() => (isOver = true));
    cancelled.catch(() => undefined);
    await until(async () => (await cancellations.get({ evaluation: ID })) !== undefined);
    passedMs = 23_999;
    // It looks every 500 ms.
    await setTimeout(700);
    assert.ok(!isOver);
    // Twice the time: it may have begun to count after the first step of the clock.
    passedMs = 48_000;
    await assertRefused(cancelled, 'timeout', /check again later$/);
  });
});

describe('the watch of other servers', { timeout: 60_000 }, () => {
  it('forgets cancellations of what has ended or is gone, and keeps those of what runs', async (t) => {
    const { records, cancellations } = await beside(t, NOTHING_OWNED);
    await records.put(recordOf('ended-one', 'done'));
    await records.put(recordOf('running-one', 'running'));
    for (const evaluation of ['running-one', 'unknown-one', 'ended-one']) await cancellations.put({ evaluation });
    const left = async () => {
      return (await collect(cancellations.find({}))).map(({ evaluation }) => evaluation);
    };
    await until(async () => (await left()).length === 1);
    assert.deepEqual(await left(), ['running-one']);
  });

  it('stops an evaluation of its own that was cancelled on another one, once', async (t) => {
    const { platform, attach, cancellations } = await beside(t, SOLE_LEASES);
    attach(patient);
    await until(() => platform.plugins().length === 1);
    for (const id of [ID, 'evaluation-2']) await platform.submit(id, submitted());
    await cancellations.put({ evaluation: ID });
    await until(async () => (await platform.get(ID)).record.state === 'cancelled');
    await until(async () => (await platform.get('evaluation-2')).last?.event.kind === 'note');
    await until(async () => (await cancellations.get({ evaluation: ID })) === undefined);
  });

  it('takes over what no server runs, if its plugin and an agent are here', async (t) => {
    const agents = directoryWith();
    const { platform, attach, records, parts } = await beside(t, SOLE_LEASES, agents);
    const content = Buffer.from(submitted()).toString('base64');
    for (const [id, state, plugin] of [
      [ID, 'running', 'fake'],
      ['evaluation-2', 'queued', 'fake'],
      ['evaluation-3', 'queued', 'other'],
      ['evaluation-4', 'done', 'fake'],
    ] as const) {
      await records.put({ ...recordOf(id, state), plugin });
      await parts.put({ evaluation: id, part: '0000', content });
    }
    attach(patient);
    await until(() => platform.plugins().length === 1);
    for (let looks = 0; looks < 3; looks++) await platform.list();
    assert.equal(platform.jobs, 0, 'there is no agent');
    agents.register(AGENT);
    await until(() => platform.jobs === 2);
    await until(async () => (await platform.get(ID)).last?.event.kind === 'note');
    assert.deepEqual((await platform.list()).map(({ id, state }) => [id, state]).toSorted(), [
      [ID, 'running'],
      ['evaluation-2', 'queued'],
      ['evaluation-3', 'queued'],
      ['evaluation-4', 'done'],
    ]);
  });

  it('takes over nothing on a server that does not continue evaluations', async (t) => {
    let taken = 0;
    const take: EvaluationLeases['take'] = (ids) => {
      taken++;
      return SOLE_LEASES.take(ids);
    };
    let looks = 0;
    const held: EvaluationLeases['held'] = () => {
      looks++;
      return SOLE_LEASES.held();
    };
    const { platform, attach, records } = await beside(t, { ...SOLE_LEASES, take, held }, undefined, false);
    attach(patient);
    await until(() => platform.plugins().length === 1);
    // A server without evaluations of its own does not look for those that it has lost.
    await platform.submit('evaluation-2', submitted());
    await records.put(recordOf(ID, 'queued'));
    const before = looks;
    await until(() => looks > before + 2);
    assert.equal(taken, 1, 'its own');
    platform.close();
    const atEnd = looks;
    await setTimeout(4 * WATCH_MS);
    assert.ok(looks <= atEnd + 1, 'it does not watch after its end');
  });
});
