import assert from 'node:assert/strict';
import { createReadStream } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { collect } from '../../src/base/collect.js';
import { type Measurement, setupKey } from '../../src/measurement/measurement.js';
import type { Tables } from '../../src/store/embedded/environment.js';
import { openEmbeddedStore } from '../../src/store/embedded/open.js';
import { acquireEnvironment, releaseEnvironment } from '../../src/store/embedded/shared-environment.js';
import { readSummary } from '../../src/store/embedded/summary.js';
import { fromJsonLines } from '../../src/store/json-lines.js';
import { openMemoryStore } from '../../src/store/memory/open.js';
import type { ResultStore } from '../../src/store/result-store.js';
import { countMeasurements, countAll } from '../../src/store/system-counts.js';
import { putRecords } from '../../src/store/transfer.js';
import { sampleMeasurement } from './sample-measurement.js';
import { temporaryFolder } from './temporary-folder.js';

// See the README.md there.
const FIXTURES = join(import.meta.dirname, '../../../test/fixtures-of-0.1');

/** The model as a whole, on the evaluation's own system. */
const WHOLE = 'dae9656cf1a664237fe5511f7b30bfb2d40e609bd7c9731444f32e99962aea2b';
const SYSTEM = '08bbc5704cb799799cb76e649daeb530778ef92cd11508fe6978cf3b2b32973a';

const PROTOCOL = { warmupRuns: 1, runs: 3, minRuns: 3, timeBudgetMs: 5000 };

/** As export.jsonl has them. */
const RUNS_MS: Readonly<Record<number, readonly number[]>> = {
  1: [0.802385, 0.885154, 0.762382],
  2: [0.529972, 0.664168, 0.584777],
};

async function oldStore(t: TestContext, onWarning: (message: string) => void): Promise<ResultStore> {
  const folder = join(await temporaryFolder(t), 'store');
  await mkdir(folder);
  await writeFile(join(folder, 'data.mdb'), gunzipSync(await readFile(join(FIXTURES, 'data.mdb.gz'))));
  const store = await openEmbeddedStore(folder, { onWarning });
  t.after(() => store.close());
  return store;
}

/** Wherever it comes from, it is in today's form. */
async function assertHasEverything(store: ResultStore): Promise<void> {
  const measurements = await collect(store.listMeasurements());
  // The model and its brick's copies on two occasions, its call and what is subtracted from copies on one.
  assert.equal(measurements.length, 6);
  for (const { protocol, occasion, limits, context } of measurements) {
    assert.deepEqual(protocol, PROTOCOL);
    assert.ok(occasion === 1 || occasion === 2);
    assert.deepEqual(limits, { timeLimitMs: 120_000, memoryLimitBytes: 8 * 2 ** 30 });
    assert.equal(context, undefined);
  }
  for (const [occasion, runMs] of Object.entries(RUNS_MS)) {
    const setup = setupKey({ protocol: PROTOCOL, occasion: Number(occasion) });
    const { outcome } = (await store.findMeasurements([WHOLE], SYSTEM, setup)).get(WHOLE) ?? assert.fail(setup);
    assert.deepEqual(outcome.kind === 'samples' && outcome.runMs, runMs);
  }
  const names = (await store.listCollections()).map(({ name }) => name);
  assert.deepEqual(names.sort(), ['evaluation', 'performance']);
}

describe('what version 0.1 wrote', () => {
  it('is read from its store', async (t) => {
    const warnings: string[] = [];
    await assertHasEverything(await oldStore(t, (message) => warnings.push(message)));
    assert.deepEqual(warnings, []);
  });

  it('is counted in its store, also after that version has replaced and deleted some of it', async (t) => {
    const folder = join(await temporaryFolder(t), 'store');
    await mkdir(folder);
    await writeFile(join(folder, 'data.mdb'), gunzipSync(await readFile(join(FIXTURES, 'data.mdb.gz'))));
    const store = await openEmbeddedStore(folder, { onWarning: assert.fail });
    t.after(() => store.close());
    const environment = await acquireEnvironment(folder);
    t.after(() => releaseEnvironment(environment));
    const expected = await countMeasurements(store.listMeasurements());
    const sizes = () => {
      const { measurements, entries } = environment.read(readSummary);
      return { measurements, entries };
    };
    assert.equal(sizes().entries, 0);
    assert.deepEqual(await Promise.all([store.countSystems(), store.countSystems()]), [expected, expected]);
    assert.deepEqual(sizes(), { measurements: 6, entries: 6 });
    // The older version knows nothing of the entries.
    const byOlder = (apply: (tables: Tables, id: string) => void): Promise<void> => {
      const [id = assert.fail()] = environment.read(({ measurements }) => [...measurements.getKeys({ limit: 1 })]);
      return environment.write({ entries: 1, bytes: 1000, apply: (tables) => void apply(tables, id) }, () => undefined);
    };
    await byOlder(({ measurements }, id) => void measurements.removeSync(id));
    assert.deepEqual(await store.countSystems(), await countMeasurements(store.listMeasurements()));
    assert.deepEqual(sizes(), { measurements: 5, entries: 5 });
    await byOlder(({ measurements }, id) => void measurements.putSync(`${id.slice(0, -1)}0`, 'damaged'));
    assert.equal(countAll(await store.countSystems()), 5);
    assert.deepEqual(sizes(), { measurements: 6, entries: 6 });
  });

  it('stands beside what today’s version adds to the same store, and is replaced by what has the same key', async (t) => {
    const store = await oldStore(t, assert.fail);
    const [old] = await collect(store.listMeasurements());
    assert.ok(old !== undefined);
    const newer: Measurement = { ...old, outcome: { kind: 'failure', reason: 'timeout', message: 'too late' } };
    await store.putMeasurement(newer);
    await store.putMeasurement(sampleMeasurement(1, { context: { footprintBytes: 2 ** 20 } }));
    const measurements = await collect(store.listMeasurements());
    assert.equal(measurements.length, 7);
    assert.deepEqual(
      measurements.filter(({ outcome }) => outcome.kind === 'failure'),
      [newer],
    );
  });

  it('is imported from its export, twice without a change', async () => {
    const store = await openMemoryStore();
    for (let time = 0; time < 2; time++) {
      const path = join(FIXTURES, 'export.jsonl');
      const moved = await putRecords(fromJsonLines(createReadStream(path), path), store);
      assert.deepEqual(moved, { measurements: 6, documents: 4 });
      await assertHasEverything(store);
    }
  });
});
