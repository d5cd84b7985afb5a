import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { collect } from '../../../src/base/collect.js';
import type { ResultStore } from '../../../src/store/result-store.js';
import { openTeamStore } from '../../../src/store/spool/open.js';
import { MAX_ATTEMPT_MS, RECONNECT_MS } from '../../../src/store/mongodb/outage-retry.js';
import { requireShape } from '../../../src/store/collection-shape.js';
import { Spool, spoolFolder } from '../../../src/store/spool/spool.js';
import { syncSpool } from '../../../src/store/spool/sync.js';
import { note, NOTES } from '../collection-contract.js';
import { SETUP_KEY, sampleMeasurement, signatureOf, SYSTEM } from '../sample-measurement.js';
import { until } from '../../support/until.js';
import { temporaryFolder } from '../temporary-folder.js';
import { needsFerretDb, startFerretDb } from './ferretdb-process.js';

const DEADLINE = { timeout: 300_000, concurrency: true };

/** Puts measurements one after another, as a run does, until it has put `count`. */
async function putAll(
  store: ResultStore,
  count: number,
  onPut: (index: number) => void = () => undefined,
): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    await store.putMeasurement(sampleMeasurement(index));
    onPut(index);
    await sleep(10);
  }
}

async function assertStored(store: ResultStore, count: number): Promise<void> {
  const indices = [...Array(count).keys()];
  const found = await store.findMeasurements(indices.map(signatureOf), SYSTEM.fingerprint, SETUP_KEY);
  assert.deepEqual(
    [...found.values()],
    indices.map((index) => sampleMeasurement(index)),
  );
}

describe('a server that goes away', { ...DEADLINE, ...needsFerretDb }, () => {
  it('is waited for when it is stopped for 30 s in the middle of a run; nothing is lost', async (t) => {
    const server = await startFerretDb(t);
    const warnings: string[] = [];
    let spooled = 0;
    const folder = await temporaryFolder(t);
    const options = { onWarning: (message: string) => warnings.push(message), onSpooled: () => (spooled += 1) };
    const store = await openTeamStore(`mongodb://${server.address}/results`, folder, options);
    t.after(() => store.close());
    let restarted: Promise<void> | undefined;
    await putAll(store, 300, (index) => {
      if (index !== 20) return;
      restarted = server
        .signal('SIGTERM')
        .then(() => sleep(30_000))
        .then(server.start);
    });
    await restarted;
    await assertStored(store, 300);
    assert.equal(spooled, 0);
    const about = warnings.filter((warning) => /answer/.test(warning));
    assert.match(about[0] ?? '', /does not answer; waiting for it, (8\d|90) s at most/);
    assert.match(about.at(-1) ?? '', /answers again/);
    assert.deepEqual(await syncSpool(`mongodb://${server.address}/results`, folder, {}), {
      measurements: 0,
      documents: 0,
    });
  });

  it('is waited for when it hangs', async (t) => {
    const server = await startFerretDb(t);
    const warnings: string[] = [];
    const options = { onWarning: (message: string) => warnings.push(message) };
    const store = await openTeamStore(`mongodb://${server.address}/results`, await temporaryFolder(t), options);
    t.after(() => store.close());
    await putAll(store, 5);
    await server.signal('SIGSTOP');
    const rest = putAll(store, 10);
    await sleep(7_000);
    await server.signal('SIGCONT');
    await rest;
    await assertStored(store, 10);
    assert.match(warnings.join('\n'), /does not answer; waiting[^]*answers again/);
  });

  it('has all that it acknowledged, and takes the rest, when it is killed with -9 and started again', async (t) => {
    const server = await startFerretDb(t);
    const folder = await temporaryFolder(t);
    const store = await openTeamStore(`mongodb://${server.address}/results`, folder, { onWarning: () => undefined });
    t.after(() => store.close());
    const kills: Promise<void>[] = [];
    const notes = store.collection(NOTES);
    await putAll(store, 90, (index) => {
      if (index % 30 === 15) {
        // At any moment of the next put.
        kills.push(
          sleep(Math.random() * 10)
            .then(() => server.signal('SIGKILL'))
            .then(server.start),
        );
      }
    });
    await notes.putMany([note('x'), note('y')]);
    await Promise.all(kills);
    await assertStored(store, 90);
    assert.deepEqual(await collect(notes.find({})), [note('x'), note('y')]);
  });

  it('leaves everything in a spool when it is gone for good, which is brought to it once and for all', async (t) => {
    const server = await startFerretDb(t);
    const folder = await temporaryFolder(t);
    const uri = `mongodb://${server.address}/results?serverSelectionTimeoutMS=3000`;
    const warnings: string[] = [];
    let spooled = 0;
    const options = { onWarning: (message: string) => warnings.push(message), onSpooled: () => (spooled += 1) };
    const store = await openTeamStore(uri, folder, options);
    await putAll(store, 5);
    await server.signal('SIGKILL');
    await putAll(store, 20);
    await store.collection(NOTES).put(note('x'));
    // What this run has measured since is found again, by this run and by the next one.
    const { fingerprint } = SYSTEM;
    assert.equal((await store.findMeasurements([signatureOf(19)], fingerprint, SETUP_KEY)).size, 1);
    await store.close();
    assert(spooled > 0);
    assert.match(warnings.join('\n'), /has not answered for 3 s\..*mlmodelscope store sync/);

    await server.start();
    const reader = await openTeamStore(uri, folder, { ...options, access: 'read' });
    assert.match(warnings.at(-1) ?? '', /results for .* wait in .*mlmodelscope store sync/);
    await assertStored(reader, 20);
    await reader.close();

    assert.deepEqual(await syncSpool(uri, folder, {}), { measurements: 20, documents: 1 });
    assert.deepEqual(await syncSpool(uri, folder, {}), { measurements: 0, documents: 0 });
    const after = await openTeamStore(uri, await temporaryFolder(t), options);
    t.after(() => after.close());
    await assertStored(after, 20);
    assert.deepEqual(await collect(after.collection(NOTES).find({})), [note('x')]);
  });

  it('gets what a killed process left in a spool from the next one, before that stores anything newer', async (t) => {
    const server = await startFerretDb(t);
    const folder = await temporaryFolder(t);
    const uri = `mongodb://${server.address}/results`;
    const left = new Spool(spoolFolder(folder, uri), {});
    for (const index of [0, 1]) await left.put({ kind: 'measurement', measurement: sampleMeasurement(index) });
    const older = { kind: 'document', collection: requireShape(NOTES) } as const;
    await left.put({ ...older, document: { ...note('x', { author: 'older' }) } });
    await left.close();

    const warnings: string[] = [];
    const store = await openTeamStore(uri, folder, { onWarning: (text) => warnings.push(text) });
    t.after(() => store.close());
    await store.collection(NOTES).put(note('x', { author: 'newer' }));
    const other = await openTeamStore(uri, await temporaryFolder(t), {});
    t.after(() => other.close());
    await assertStored(other, 2);
    assert.match(warnings.join('\n'), /wait in .*; they are sent first[^]*the database has all results/);
    assert.deepEqual(await syncSpool(uri, folder, {}), { measurements: 0, documents: 0 });
    assert.deepEqual(await collect(other.collection(NOTES).find({})), [note('x', { author: 'newer' })]);
  });

  it('gets what waits in a spool when it comes back after the limit, in the same run', async (t) => {
    const server = await startFerretDb(t);
    const folder = await temporaryFolder(t);
    const uri = `mongodb://${server.address}/results?serverSelectionTimeoutMS=3000`;
    const warnings: string[] = [];
    const waiting: boolean[] = [];
    const options = {
      onWarning: (message: string) => warnings.push(message),
      onSpooled: (areWaiting: boolean) => waiting.push(areWaiting),
    };
    const store = await openTeamStore(uri, folder, options);
    t.after(() => store.close());
    await server.signal('SIGKILL');
    await putAll(store, 20);
    await store.collection(NOTES).put(note('x'));
    assert.equal(store.isUnavailable, true);
    await server.start();
    await until(() => store.isUnavailable !== true);
    assert.deepEqual(waiting, [true, false]);
    assert.match(warnings.at(-1) ?? '', /The database has all results that were kept in /);
    const other = await openTeamStore(uri, await temporaryFolder(t), options);
    t.after(() => other.close());
    await assertStored(other, 20);
    assert.deepEqual(await collect(other.collection(NOTES).find({})), [note('x')]);
    assert.deepEqual(await syncSpool(uri, folder, {}), { measurements: 0, documents: 0 });
  });

  it('is read to the end by one who began before an outage and pauses for longer than its old client is kept', async (t) => {
    const server = await startFerretDb(t);
    const options = { onWarning: () => undefined };
    const store = await openTeamStore(`mongodb://${server.address}/results`, await temporaryFolder(t), options);
    t.after(() => store.close());
    const notes = store.collection(NOTES);
    const titles = Array.from({ length: 1500 }, (_, index) => String(index).padStart(4, '0'));
    await notes.putMany(titles.map((title) => note(title)));
    const read: string[] = [];
    for await (const { title } of notes.find({})) {
      read.push(title);
      if (read.length !== 10) continue;
      await server.signal('SIGKILL');
      const other = notes.count();
      await sleep(RECONNECT_MS + 5_000);
      await server.start();
      await other;
      await sleep(MAX_ATTEMPT_MS);
    }
    assert.deepEqual(read, titles);
  });

  it('does not get an older measurement over a newer one', async (t) => {
    const server = await startFerretDb(t);
    const folder = await temporaryFolder(t);
    const uri = `mongodb://${server.address}/results?serverSelectionTimeoutMS=500`;
    const store = await openTeamStore(uri, folder, { onWarning: () => undefined });
    await server.signal('SIGKILL');
    await store.putMeasurement(sampleMeasurement(1, { measuredAt: '2026-01-01T00:00:00Z' }));
    await store.close();
    await server.start();
    const newer = sampleMeasurement(1, { measuredAt: '2026-01-02T00:00:00Z' });
    const other = await openTeamStore(uri, await temporaryFolder(t), { onWarning: () => undefined });
    t.after(() => other.close());
    await other.putMeasurement(newer);
    assert.equal((await syncSpool(uri, folder, {})).measurements, 1);
    const found = await other.findMeasurements([signatureOf(1)], SYSTEM.fingerprint, SETUP_KEY);
    assert.deepEqual(found.get(signatureOf(1)), newer);
  });

  it('does not keep an interrupted run waiting', async (t) => {
    const server = await startFerretDb(t);
    const interrupt = new AbortController();
    const options = { onWarning: () => undefined, signal: interrupt.signal };
    const store = await openTeamStore(`mongodb://${server.address}/results`, await temporaryFolder(t), options);
    t.after(() => store.close());
    await server.signal('SIGKILL');
    const put = store.putMeasurement(sampleMeasurement(1));
    await sleep(500);
    const start = performance.now();
    interrupt.abort();
    await put;
    assert(performance.now() - start < 10_000);
  });

  it('is not waited for at the end of an interrupted run when it hangs', async (t) => {
    const server = await startFerretDb(t);
    const interrupt = new AbortController();
    const options = { onWarning: () => undefined, signal: interrupt.signal };
    const store = await openTeamStore(`mongodb://${server.address}/results`, await temporaryFolder(t), options);
    await store.putMeasurement(sampleMeasurement(1));
    await server.signal('SIGSTOP');
    const put = store.putMeasurement(sampleMeasurement(2));
    await sleep(500);
    interrupt.abort();
    await put;
    const start = performance.now();
    await store.close();
    // The driver would wait for an answer for about 20 s.
    assert(performance.now() - start < 10_000);
  });
});
