import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { collect } from '../../src/base/collect.js';
import fc, { anyCharacter } from '../support/property.js';
import { FAILURE_REASONS, measurementKey, type Measurement, setupKey } from '../../src/measurement/measurement.js';
import { OPTIMIZATION_LEVELS } from '../../src/measurement/runtime-settings.js';
import type { ResultStore } from '../../src/store/result-store.js';
import { conditionsBeside } from './measured-beside.js';
import { PROTOCOL, SETUP_KEY, sampleMeasurement, sampleSystem, signatureOf, SYSTEM } from './sample-measurement.js';

/** The requirements on every backend. `open` gives a new, empty store each time, and cleans up after the test. */
export function resultStoreContract(name: string, open: (t: TestContext) => Promise<ResultStore>): void {
  const find = (store: ResultStore, ...indices: readonly number[]) =>
    store.findMeasurements(indices.map(signatureOf), SYSTEM.fingerprint, SETUP_KEY);

  describe(`${name} result store`, () => {
    it('finds what was put', async (t) => {
      const store = await open(t);
      await store.putMeasurement(sampleMeasurement(1));
      assert.deepEqual(await find(store, 1), new Map([[signatureOf(1), sampleMeasurement(1)]]));
    });

    it('finds nothing in an empty store', async (t) => {
      assert.deepEqual(await find(await open(t), 1, 2), new Map());
    });

    it('leaves out signatures that it does not have', async (t) => {
      const store = await open(t);
      await store.putMeasurement(sampleMeasurement(1));
      const odd = ['', 'no signature', 'f'.repeat(5000), '\0', '__proto__'];
      const found = await store.findMeasurements(
        [...odd, signatureOf(2), signatureOf(1)],
        SYSTEM.fingerprint,
        SETUP_KEY,
      );
      assert.deepEqual([...found.keys()], [signatureOf(1)]);
    });

    it('leaves out signatures that were not asked for', async (t) => {
      const store = await open(t);
      await Promise.all([1, 2, 3].map((index) => store.putMeasurement(sampleMeasurement(index))));
      assert.deepEqual([...(await find(store, 3, 1)).keys()], [signatureOf(3), signatureOf(1)]);
    });

    it('keeps the measurements of two systems apart', async (t) => {
      const store = await open(t);
      const other = sampleSystem({ framework: 'another' });
      await store.putMeasurement(sampleMeasurement(1));
      await store.putMeasurement(sampleMeasurement(1, { system: other, costMs: 7 }));
      assert.equal((await find(store, 1)).get(signatureOf(1))?.costMs, 120.5);
      const found = await store.findMeasurements([signatureOf(1)], other.fingerprint, SETUP_KEY);
      assert.equal(found.get(signatureOf(1))?.costMs, 7);
    });

    const others: readonly [string, Partial<Measurement>][] = [
      ['protocols', { protocol: { ...PROTOCOL, minRuns: 6 } }],
      ['occasions', { occasion: 2 }],
      ['contexts', { context: { footprintBytes: 2 ** 24 } }],
    ];
    for (const [what, changes] of others) {
      it(`keeps the measurements of two ${what} apart`, async (t) => {
        const store = await open(t);
        const other = sampleMeasurement(1, { ...changes, costMs: 7 });
        await store.putMeasurement(sampleMeasurement(1));
        const findOther = () => store.findMeasurements([signatureOf(1)], SYSTEM.fingerprint, setupKey(other));
        assert.equal((await findOther()).size, 0);
        await store.putMeasurement(other);
        assert.deepEqual((await findOther()).get(signatureOf(1)), other);
        assert.equal((await find(store, 1)).get(signatureOf(1))?.costMs, 120.5);
      });
    }

    it('finds nothing for a system or a protocol of any text', async (t) => {
      const store = await open(t);
      await store.putMeasurement(sampleMeasurement(1));
      for (const text of ['', '\0', '../..', `${SYSTEM.fingerprint}\n`, '😀'.repeat(1000)]) {
        assert.equal((await store.findMeasurements([signatureOf(1)], text, SETUP_KEY)).size, 0);
        assert.equal((await store.findMeasurements([signatureOf(1)], SYSTEM.fingerprint, text)).size, 0);
      }
    });

    it('finds all measurements of a signature, whatever their system and setup', async (t) => {
      const store = await open(t);
      const others = [{ occasion: 2 }, { context: { footprintBytes: 4096 } }, { system: sampleSystem({ cores: 64 }) }];
      const wanted = [sampleMeasurement(1), ...others.map((changes) => sampleMeasurement(1, changes))];
      for (const measurement of [...wanted, sampleMeasurement(2)]) await store.putMeasurement(measurement);
      const found = await store.measurementsOf(signatureOf(1));
      const byKey = (all: readonly Measurement[]) => {
        return new Map(all.map((one) => [`${one.system.fingerprint} ${setupKey(one)}`, one]));
      };
      assert.deepEqual(byKey(found), byKey(wanted));
      for (const text of ['', '\0', '../..']) assert.deepEqual(await store.measurementsOf(text), []);
    });

    it('replaces the measurement with the same key', async (t) => {
      const store = await open(t);
      await store.putMeasurement(sampleMeasurement(1));
      await store.putMeasurement(sampleMeasurement(1, { costMs: 7 }));
      await store.putMeasurement(sampleMeasurement(1, { costMs: 7 }));
      assert.deepEqual(await find(store, 1), new Map([[signatureOf(1), sampleMeasurement(1, { costMs: 7 })]]));
    });

    it('deletes what is asked and nothing else, and counts what was there', async (t) => {
      const store = await open(t);
      for (let index = 0; index < 300; index += 1) await store.putMeasurement(sampleMeasurement(index));
      const repeated = sampleMeasurement(1, { occasion: 2 });
      await store.putMeasurement(repeated);
      const gone = Array.from({ length: 298 }, (_, index) => measurementKey(sampleMeasurement(index)));
      const unknown = [
        measurementKey(sampleMeasurement(1000)),
        { signature: 'none', system: '', setup: '' },
        { ...measurementKey(repeated), setup: setupKey(sampleMeasurement(1, { occasion: 3 })) },
      ];
      assert.equal(await store.deleteMeasurements([...gone, ...unknown]), 298);
      assert.equal(await store.deleteMeasurements(gone), 0);
      const left = await collect(store.listMeasurements());
      const order = ({ occasion, signature }: Measurement): string => `${occasion} ${signature}`;
      const expected = [sampleMeasurement(298), sampleMeasurement(299), repeated];
      assert.deepEqual(
        left.sort((a, b) => (order(a) < order(b) ? -1 : 1)),
        expected.sort((a, b) => (order(a) < order(b) ? -1 : 1)),
      );
      await store.putMeasurement(sampleMeasurement(0));
      assert.equal((await find(store, 0)).size, 1);
    });

    it('counts the measurements of each system, through replacements and deletions', async (t) => {
      const store = await open(t);
      assert.deepEqual(await store.countSystems(), []);
      const other = sampleSystem({ framework: 'another' });
      const failure = { kind: 'failure', reason: 'unsupported', message: 'no such kernel' } as const;
      const at = (day: number): string => `2026-03-${String(day).padStart(2, '0')}T10:00:00.000Z`;
      const [first, second, third, fourth] = [
        sampleMeasurement(1, { measuredAt: at(1) }),
        sampleMeasurement(2, { measuredAt: at(2), outcome: failure }),
        sampleMeasurement(3, { measuredAt: at(3), conditions: conditionsBeside(1000) }),
        sampleMeasurement(1, { measuredAt: at(4), system: other }),
      ] as const;
      const all = [first, second, third, fourth];
      await Promise.all([...all, ...all].map((measurement) => store.putMeasurement(measurement)));
      const bySystem = async () => {
        const counts = [...(await store.countSystems())];
        return counts.sort(({ system }) => (system.fingerprint === SYSTEM.fingerprint ? -1 : 1));
      };
      const ofOther = { system: other, measurements: 1, failed: 0, disturbed: 0, oldest: at(4), newest: at(4) };
      const ofFirst = { system: SYSTEM, oldest: at(1), newest: at(3) };
      assert.deepEqual(await bySystem(), [{ ...ofFirst, measurements: 3, failed: 1, disturbed: 1 }, ofOther]);

      await store.putMeasurement({ ...second, measuredAt: at(9), outcome: first.outcome });
      await store.deleteMeasurements([measurementKey(first), measurementKey(third)]);
      const left = { measurements: 1, failed: 0, disturbed: 0, oldest: at(9), newest: at(9) };
      assert.deepEqual(await bySystem(), [{ system: SYSTEM, ...left }, ofOther]);
      await store.deleteMeasurements([measurementKey(second)]);
      assert.deepEqual(await bySystem(), [ofOther]);
    });

    it('replaces a measurement under other limits, which are no part of the key', async (t) => {
      const store = await open(t);
      const roomier = sampleMeasurement(1, { limits: { timeLimitMs: 1e6, memoryLimitBytes: 1e12 } });
      await store.putMeasurement(sampleMeasurement(1));
      await store.putMeasurement(roomier);
      assert.deepEqual((await find(store, 1)).get(signatureOf(1)), roomier);
    });

    it('keeps failures like samples', async (t) => {
      const store = await open(t);
      const failures = FAILURE_REASONS.map((reason, index) =>
        sampleMeasurement(index, { outcome: { kind: 'failure', reason, message: `went wrong: ${reason}\n` } }),
      );
      for (const failure of failures) await store.putMeasurement(failure);
      assert.deepEqual([...(await find(store, ...failures.keys())).values()], failures);
    });

    it('keeps zeros, tiny and huge times', async (t) => {
      const store = await open(t);
      const runMs = [0, Number.MIN_VALUE, 1e-9, 0.1 + 0.2, 1 / 3, 1e21, Number.MAX_VALUE];
      const measurement = sampleMeasurement(1, { outcome: { kind: 'samples', runMs, warmupMs: [] }, costMs: 0 });
      await store.putMeasurement(measurement);
      assert.deepEqual((await find(store, 1)).get(signatureOf(1)), measurement);
    });

    it('keeps 100,000 samples of one measurement', async (t) => {
      const store = await open(t);
      const runMs = Array.from({ length: 100_000 }, (_, index) => Math.sqrt(index));
      const measurement = sampleMeasurement(1, { outcome: { kind: 'samples', runMs, warmupMs: runMs } });
      await store.putMeasurement(measurement);
      assert.deepEqual((await find(store, 1)).get(signatureOf(1)), measurement);
    });

    it('keeps the system that each measurement came with', async (t) => {
      const store = await open(t);
      const rebooted = sampleMeasurement(2, { system: { ...SYSTEM, memoryBytes: SYSTEM.memoryBytes - 4096 } });
      await store.putMeasurement(sampleMeasurement(1));
      await store.putMeasurement(rebooted);
      assert.deepEqual([...(await find(store, 1, 2)).values()], [sampleMeasurement(1), rebooted]);
    });

    it('finds 10,000 signatures in one go', async (t) => {
      const store = await open(t);
      const indices = [...Array(10_000).keys()];
      // A tenth of them: FerretDB takes longer for each put with each measurement that it has.
      await Promise.all(
        indices.filter((index) => index % 10 === 0).map((index) => store.putMeasurement(sampleMeasurement(index))),
      );
      const found = await find(store, ...indices);
      assert.equal(found.size, 1_000);
      for (const [signature, measurement] of found) assert.equal(measurement.signature, signature);
    });

    it('stores what is put concurrently, also under one key', async (t) => {
      const store = await open(t);
      const costs = [...Array(20).keys()];
      await Promise.all([
        ...costs.map((costMs) => store.putMeasurement(sampleMeasurement(0, { costMs }))),
        ...costs.map((index) => store.putMeasurement(sampleMeasurement(index + 1))),
      ]);
      const found = await find(store, ...Array(21).keys());
      assert.equal(found.size, 21);
      assert.equal(found.get(signatureOf(0))?.costMs, 19);
    });

    it('lists each system once', async (t) => {
      const store = await open(t);
      assert.deepEqual(await store.listSystems(), []);
      const other = sampleSystem({ cores: 64 });
      await store.putMeasurement(sampleMeasurement(1));
      await store.putMeasurement(sampleMeasurement(2, { system: { ...SYSTEM, memoryBytes: 1 } }));
      await store.putMeasurement(sampleMeasurement(3, { system: other }));
      const fingerprints = (await store.listSystems()).map((system) => system.fingerprint);
      assert.deepEqual(fingerprints.toSorted(), [SYSTEM.fingerprint, other.fingerprint].toSorted());
    });

    it('refuses everything after it was closed', async (t) => {
      const store = await open(t);
      await store.close();
      const refused = { name: 'PlatformError', code: 'storage' };
      await assert.rejects(store.putMeasurement(sampleMeasurement(1)), refused);
      await assert.rejects(find(store, 1), refused);
      await assert.rejects(store.listSystems(), refused);
    });

    it('can be closed twice, also at once', async (t) => {
      const store = await open(t);
      await Promise.all([store.close(), store.close()]);
      await store.close();
    });

    it('finishes the puts that are under way when it is closed', async (t) => {
      const store = await open(t);
      const puts = [1, 2, 3].map((index) => store.putMeasurement(sampleMeasurement(index)));
      await store.close();
      await Promise.all(puts);
    });

    it('gives back any valid measurement as it was', async (t) => {
      const store = await open(t);
      const property = fc.asyncProperty(
        fc.array(anyMeasurement, { minLength: 1, maxLength: 4 }),
        async (measurements) => {
          await Promise.all(measurements.map((measurement) => store.putMeasurement(measurement)));
          for (const measurement of measurements) {
            const { signature, system, setup } = measurementKey(measurement);
            const found = await store.findMeasurements([signature], system, setup);
            const last = measurements.findLast((other) => sameKey(other, measurement));
            assert.deepEqual(found, new Map([[signature, last]]));
          }
        },
      );
      await fc.assert(property, { numRuns: 50 });
    });
  });
}

function sameKey(one: Measurement, other: Measurement): boolean {
  return JSON.stringify(measurementKey(one)) === JSON.stringify(measurementKey(other));
}

const hex64 = fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 64, maxLength: 64 });

/** Times are never negative zero, which JSON does not know. */
const time = fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);

const upToADay = fc.double({ min: Number.MIN_VALUE, max: 24 * 3600 * 1000, noNaN: true });

const positive = fc.double({ min: Number.MIN_VALUE, noNaN: true, noDefaultInfinity: true });

const text = fc.string({ unit: anyCharacter });

/** Without objects that have no prototype, which no schema gives back as such. */
function record<T>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> {
  return fc.record(fields, { noNullPrototype: true });
}

const anyMeasurement: fc.Arbitrary<Measurement> = record({
  signature: hex64,
  system: record({
    fingerprint: hex64,
    processor: text,
    architecture: text,
    operatingSystem: text,
    cores: fc.integer({ min: 1 }),
    memoryBytes: positive,
    cacheBytes: positive,
    processorFeatures: fc.array(text),
    framework: text,
    frameworkVersion: text,
    runOptions: record({
      threads: fc.integer({ min: 1, max: 1024 }),
      executionProvider: fc.string({ unit: anyCharacter, minLength: 1 }),
      optimizationLevel: fc.constantFrom(...OPTIMIZATION_LEVELS),
    }),
  }),
  protocol: record({
    warmupRuns: fc.integer({ min: 0, max: 100_000 }),
    runs: fc.integer({ min: 1, max: 1_000_000 }),
    minRuns: fc.integer({ min: 1, max: 1_000_000 }),
    timeBudgetMs: upToADay,
  }),
  occasion: fc.integer({ min: 1 }),
  limits: record({ timeLimitMs: upToADay, memoryLimitBytes: positive }),
  outcome: fc.oneof(
    record({
      kind: fc.constant('samples' as const),
      runMs: fc.array(time, { minLength: 1, maxLength: 60 }),
      warmupMs: fc.array(time),
    }),
    record({ kind: fc.constant('failure' as const), reason: fc.constantFrom(...FAILURE_REASONS), message: text }),
  ),
  costMs: time,
  sessionMs: time,
  peakMemoryBytes: time,
  measuredAt: fc
    .date({ min: new Date('1970-01-01'), max: new Date('2999-12-31'), noInvalidDate: true })
    .map((date) => date.toISOString()),
});
