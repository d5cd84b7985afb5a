import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { evaluationCollections } from '../../src/evaluation/records.js';
import { sha256Of } from '../../src/base/sha256.js';
import { openMemoryStore } from '../../src/store/memory/open.js';
import { Acceptance } from '../../src/server/acceptance.js';
import type { EvaluationLeases, Jobs } from '../../src/server/jobs.js';
import { PlatformError } from '../../src/base/errors.js';
import { assertRefused, refusal } from '../rpc/support/refusal.js';
import { until } from '../support/until.js';
import { withChanges } from './changing-store.js';
import {
  AGENT,
  directoryWith,
  eventsOf,
  LOADER,
  openPlatform,
  SOLE_LEASES,
  submitted,
  takenByAnother,
} from './fake-platform.js';
import { obedient, patient } from './scripted-evaluation.js';

const deadline = { timeout: 300_000 };
const ID = 'evaluation-1';

async function accepting(t: TestContext, leases: EvaluationLeases = SOLE_LEASES, evaluation = patient) {
  const store = await openMemoryStore();
  const { platform, attach } = await openPlatform({ store, leases });
  t.after(() => platform.close());
  attach(evaluation);
  await until(() => platform.plugins().length === 1);
  return { store, platform, ...evaluationCollections(store) };
}

describe('an accepted evaluation', deadline, () => {
  it('has a record with everything that the next server needs', async (t) => {
    const { platform, records } = await accepting(t);
    const before = new Date().toISOString();
    const traceContext = { traceparent: '00-aa-bb-01' };
    const bytes = submitted();
    const record = await platform.submit(ID, bytes, { traceContext });
    const { submittedAt } = record;
    assert.ok(before <= submittedAt && submittedAt <= new Date().toISOString());
    const digest = sha256Of(bytes);
    const own = { id: ID, name: 'tiny', plugin: 'fake', digest, submittedAt, traceContext };
    assert.deepEqual(record, { ...own, state: 'queued', attempts: 0, changedAt: submittedAt });
    await until(async () => (await platform.get(ID)).last?.event.kind === 'note');
    const stored = await records.get({ id: ID });
    assert.deepEqual(stored, { ...own, state: 'running', attempts: 1, changedAt: stored?.changedAt });
    assert.deepEqual(await platform.submit(ID, submitted(), {}), (await platform.get(ID)).record);
  });

  it('has an id of 8 to 64 letters, digits and hyphens', async (t) => {
    const { platform } = await accepting(t);
    for (const id of ['aB-45678', 'x'.repeat(64)]) assert.equal((await platform.submit(id, submitted())).id, id);
    for (const id of ['', '1234567', 'x'.repeat(65), 'with space', '../../etc', '12345678\n'])
      await assert.rejects(platform.submit(id, submitted()), refusal('usage', /^evaluation_id: expected 8 to 64/), id);
  });

  it('is not run again if it is submitted again after its end', async (t) => {
    const { platform } = await accepting(t, SOLE_LEASES, obedient);
    await platform.submit(ID, submitted());
    await eventsOf(platform, ID);
    await until(() => platform.jobs === 0);
    assert.equal((await platform.submit(ID, submitted())).state, 'done');
    assert.equal(platform.jobs, 0);
    assert.equal((await eventsOf(platform, ID)).length, 2);
    const other = platform.submit(ID, submitted({ threads: 2 }));
    await assertRefused(other, 'usage', /^evaluation_id: evaluation-1 is the id of another evaluation already/);
  });

  it('is one of at most a thousand that wait or run', async () => {
    const collections = evaluationCollections(await openMemoryStore());
    const begun: string[] = [];
    const jobs: Pick<Jobs, 'size' | 'has' | 'runAlone' | 'begin'> = {
      get size() {
        return 999 + begun.length;
      },
      has: (id) => begun.includes(id),
      runAlone: (_id, work) => work(),
      begin: ({ id }) => Promise.resolve(void begun.push(id)),
    };
    const acceptance = new Acceptance({
      collections,
      leases: SOLE_LEASES,
      agents: directoryWith(AGENT.address),
      dispatcher: { requirePlugin: () => {} },
      loader: LOADER,
      jobs: jobs as Jobs,
    });
    await acceptance.submit('the-last-one', submitted(), {});
    const full = refusal('exhausted', /^1000 evaluations wait or run already; try again later$/);
    await assert.rejects(acceptance.submit('one-too-many', submitted(), {}), full);
    assert.equal((await acceptance.submit('the-last-one', submitted(), {})).id, 'the-last-one', 'it is known');
    assert.deepEqual(begun, ['the-last-one']);
  });
});

describe('a submission that another server accepts', deadline, () => {
  it('is refused for now, and belongs to the other server as soon as it is stored', async (t) => {
    const asked: (readonly string[])[] = [];
    const take: EvaluationLeases['take'] = (ids) => {
      asked.push(ids);
      return takenByAnother(ids);
    };
    const { platform, records } = await accepting(t, { ...SOLE_LEASES, take });
    const refused = refusal('unavailable', /^another server is accepting the evaluation evaluation-1 now; submit it/);
    await assert.rejects(platform.submit(ID, submitted()), refused);
    assert.deepEqual(asked, [[ID]]);
    const at = new Date().toISOString();
    const record = { id: ID, name: 'tiny', plugin: 'fake', state: 'queued', digest: sha256Of(submitted()) } as const;
    const stored = { ...record, attempts: 0, submittedAt: at, changedAt: at, traceContext: {} };
    await records.put(stored);
    assert.deepEqual(await platform.submit(ID, submitted()), stored);
    assert.equal(platform.jobs, 0, 'the other server runs it');
  });

  it('may be accepted by another server if the store fails here', async (t) => {
    const store = await openMemoryStore();
    const full = new PlatformError('storage', 'the disk is full');
    const failing = withChanges(store, (work, document) => {
      return document !== undefined && 'digest' in document ? Promise.reject(full) : work();
    });
    const released: string[] = [];
    const release: EvaluationLeases['release'] = (id = '') => {
      released.push(id);
      return Promise.reject(new PlatformError('storage', 'the database is away'));
    };
    const leases = { ...SOLE_LEASES, release };
    const { platform, attach } = await openPlatform({ store: failing, leases });
    t.after(() => platform.close());
    attach(obedient);
    await until(() => platform.plugins().length === 1);
    await assert.rejects(platform.submit(ID, submitted()), full);
    assert.deepEqual(released, [ID]);
  });
});
