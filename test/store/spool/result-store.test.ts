import assert from 'node:assert/strict';
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { PlatformError } from '../../../src/base/errors.js';
import { currentEstimates, estimatedSystems, keepEstimates } from '../../../src/measuring/estimates.js';
import type { Measurement } from '../../../src/measurement/measurement.js';
import type { CollectionDefinition } from '../../../src/store/collection.js';
import { openMemoryStore } from '../../../src/store/memory/open.js';
import type { ResultStore } from '../../../src/store/result-store.js';
import { SpoolingResultStore } from '../../../src/store/spool/result-store.js';
import { Spool } from '../../../src/store/spool/spool.js';
import { sendSpooled } from '../../../src/store/spool/sync.js';
import { putRecord } from '../../../src/store/transfer.js';
import { assertRefused } from '../../rpc/support/refusal.js';
import { newEstimate } from '../../server/site-server.js';
import { until } from '../../support/until.js';
import { sampleMeasurement, SETUP_KEY, signatureOf, SYSTEM } from '../sample-measurement.js';
import { temporaryFolder } from '../temporary-folder.js';

/** A server's store whose spool cannot be used, as on a full disk: its folder holds something else. */
async function withoutSpool(t: TestContext, putMeasurement: (remote: ResultStore) => ResultStore['putMeasurement']) {
  const folder = await temporaryFolder(t);
  await writeFile(join(folder, 'in-the-way'), '');
  const warnings: string[] = [];
  const remote = await openMemoryStore();
  const slow: ResultStore = Object.create(remote, {
    putMeasurement: { value: putMeasurement(remote) },
    findMeasurements: { value: remote.findMeasurements.bind(remote) },
    close: { value: remote.close.bind(remote) },
  }) as ResultStore;
  const warn = (message: string): void => void warnings.push(message);
  const store = new SpoolingResultStore(slow, new Spool(folder, {}), { warn, onSpooled: () => undefined });
  t.after(() => store.close());
  return { store, warnings };
}

describe('a spool', { skip: process.platform === 'win32' }, () => {
  it('is for its owner only', async (t) => {
    const folder = join(await temporaryFolder(t), 'spool');
    const spool = new Spool(folder, {});
    await spool.put({ kind: 'measurement', measurement: sampleMeasurement(0) });
    await spool.close();
    assert.equal((await stat(folder)).mode & 0o077, 0);
  });
});

describe('what waits in a spool', { timeout: 60_000 }, () => {
  it('is sent until the command is interrupted, and the rest stays', async (t) => {
    const spool = new Spool(join(await temporaryFolder(t), 'spool'), {});
    t.after(() => spool.close());
    for (const index of [0, 1, 2]) await spool.put({ kind: 'measurement', measurement: sampleMeasurement(index) });
    const remote = await openMemoryStore();
    const interrupted = new AbortController();
    const store = Object.create(remote, {
      findMeasurements: { value: remote.findMeasurements.bind(remote) },
      putMeasurement: {
        value: async (measurement: Measurement) => {
          await remote.putMeasurement(measurement);
          interrupted.abort();
        },
      },
    }) as ResultStore;
    assert.deepEqual(await sendSpooled(spool, store, interrupted.signal), { measurements: 1, documents: 0 });
    let left = 0;
    for await (const { record } of spool.records()) left += record.kind === 'measurement' ? 1 : 0;
    assert.equal(left, 2);
  });
});

describe('estimates of a run whose server is gone', { timeout: 60_000 }, () => {
  it('wait in the spool, and are brought to the server', async (t) => {
    const gone = () => new PlatformError('unavailable', 'gone');
    const remote = await openMemoryStore();
    let asked = 0;
    const away: ResultStore = Object.create(remote, {
      collection: {
        value: (definition: CollectionDefinition<object>) => ({
          ...remote.collection(definition),
          put: () => Promise.reject(gone()),
          get: () => Promise.reject(gone()),
          find: async function* () {
            asked++;
            await Promise.reject(gone());
          },
        }),
      },
      close: { value: () => Promise.resolve() },
    }) as ResultStore;
    const spool = new Spool(join(await temporaryFolder(t), 'spool'), {});
    const store = new SpoolingResultStore(away, spool, { warn: () => undefined, onSpooled: () => undefined });
    t.after(() => store.close());
    await keepEstimates(store, SYSTEM, [newEstimate(), newEstimate({ model: 'resnet34', latencyMs: 20 })]);
    assert.equal(asked, 1, 'it is not waited for again');
    for await (const { record } of spool.records()) await putRecord(record, remote);
    const brought = await currentEstimates(remote);
    assert.deepEqual(brought.map(({ model, latencyMs }) => [model, latencyMs]).sort(), [
      ['resnet18', 10],
      ['resnet34', 20],
    ]);
    assert.deepEqual([...(await estimatedSystems(remote)).keys()], [SYSTEM.fingerprint]);
  });
});

/** A server's store that answers each of the first puts with an error, and does all others. */
async function refusing(t: TestContext, ...answers: ('unavailable' | 'storage')[]) {
  const remote = await openMemoryStore();
  const store: ResultStore = Object.create(remote, {
    putMeasurement: {
      value: (measurement: Measurement) => {
        const code = answers.shift();
        return code === undefined
          ? remote.putMeasurement(measurement)
          : Promise.reject(new PlatformError(code, `refused (${code}).`));
      },
    },
    findMeasurements: { value: remote.findMeasurements.bind(remote) },
    close: { value: remote.close.bind(remote) },
  }) as ResultStore;
  const warnings: string[] = [];
  const waiting: boolean[] = [];
  const told = { onSpooled: (areWaiting: boolean): void => void waiting.push(areWaiting) };
  const spool = new Spool(join(await temporaryFolder(t), 'spool'), {});
  const spooling = new SpoolingResultStore(store, spool, {
    warn: (message) => warnings.push(message),
    onSpooled: (areWaiting) => told.onSpooled(areWaiting),
    sendAgainMs: 5,
  });
  t.after(() => spooling.close());
  return { remote, spool, spooling, warnings, waiting, told, answers };
}

describe('a server that is back', { timeout: 60_000 }, () => {
  it('gets new results where it refuses what waits, which stays', async (t) => {
    const { remote, spool, spooling, warnings, waiting } = await refusing(t, 'unavailable', 'unavailable', 'storage');
    await spooling.putMeasurement(sampleMeasurement(0));
    await until(() => !spooling.isUnavailable);
    assert.match(warnings.at(-1) ?? '', /^refused \(storage\)\. Results still wait in .*mlmodelscope store sync/);
    assert.deepEqual(waiting, [true]);
    await spooling.putMeasurement(sampleMeasurement(1));
    const found = await remote.findMeasurements([signatureOf(0), signatureOf(1)], SYSTEM.fingerprint, SETUP_KEY);
    assert.deepEqual([...found.keys()], [signatureOf(1)]);
    assert.equal(await spool.isEmpty(), false);
  });

  it('has what waited through two outages, of which only changes are told', async (t) => {
    const { spool, spooling, waiting, answers } = await refusing(t, 'unavailable', 'storage');
    await spooling.putMeasurement(sampleMeasurement(0));
    await until(() => !spooling.isUnavailable);
    answers.push('unavailable');
    await spooling.putMeasurement(sampleMeasurement(1));
    await until(() => !spooling.isUnavailable);
    assert.deepEqual(waiting, [true, false]);
    assert.equal(await spool.isEmpty(), true);
  });

  it('gets what is put at the moment when it has all that waited', async (t) => {
    const { remote, spool, spooling, told } = await refusing(t, 'unavailable');
    const put = new Promise<void>((resolve) => {
      told.onSpooled = (areWaiting) => {
        if (!areWaiting) resolve(spooling.putMeasurement(sampleMeasurement(1)));
      };
    });
    await spooling.putMeasurement(sampleMeasurement(0));
    await put;
    const found = await remote.findMeasurements([signatureOf(0), signatureOf(1)], SYSTEM.fingerprint, SETUP_KEY);
    assert.equal(found.size, 2);
    assert.equal(await spool.isEmpty(), true);
  });
});

describe('a server’s store whose spool cannot be used', { timeout: 60_000 }, () => {
  it('waits for a server that comes back, and says once what would be lost without it', async (t) => {
    const { store, warnings } = await withoutSpool(t, (remote) => async (measurement) => {
      // Slow enough that the spool is tried.
      await until(() => warnings.length > 0);
      await remote.putMeasurement(measurement);
    });
    await Promise.all([0, 1].map((index) => store.putMeasurement(sampleMeasurement(index))));
    const found = await store.findMeasurements([signatureOf(0), signatureOf(1)], SYSTEM.fingerprint, SETUP_KEY);
    assert.equal(found.size, 2);
    assert.equal(warnings.length, 1);
    assert.match(warnings[0] ?? '', /is not a store.*results cannot be kept on this machine/);
  });

  it('is read, what the server does not have included', async (t) => {
    const { store } = await withoutSpool(t, (remote) => (measurement) => remote.putMeasurement(measurement));
    await store.putMeasurement(sampleMeasurement(0));
    const found = await store.findMeasurements([signatureOf(0), signatureOf(1)], SYSTEM.fingerprint, SETUP_KEY);
    assert.deepEqual([...found.keys()], [signatureOf(0)]);
  });

  it('fails where the server is gone as well', async (t) => {
    const { store } = await withoutSpool(t, () => () => Promise.reject(new PlatformError('unavailable', 'gone')));
    await assertRefused(store.putMeasurement(sampleMeasurement(0)), 'storage', /is not a store/);
  });
});
