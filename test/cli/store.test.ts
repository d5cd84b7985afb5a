import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { collect } from '../../src/base/collect.js';
import { openStore } from '../../src/store/open-store.js';
import { newDatabase, MONGODB_URI } from '../store/mongodb/server.js';
import { conditionsBeside } from '../store/measured-beside.js';
import { PROTOCOL, sampleMeasurement, sampleSystem, signatureOf, SYSTEM } from '../store/sample-measurement.js';
import { note, NOTES } from '../store/collection-contract.js';
import { deadline } from './support/command.js';
import { assertOneMessage } from './support/report.js';
import { workplaceHere } from './support/workplace-here.js';

/** The URI of a new store of each kind. */
const KINDS: Readonly<Record<string, (t: TestContext, folder: string) => string>> = {
  embedded: (_t, folder) => folder,
  ...(MONGODB_URI === undefined ? {} : { MongoDB: (t: TestContext) => newDatabase(t) }),
};

const OTHER = sampleSystem({ framework: 'another' });

const FAILURE = { kind: 'failure', reason: 'unsupported', message: 'no such kernel' } as const;

/** Other processes take half of the time of two cores in a second. */
const BUSY = conditionsBeside(1000);

/** 0 to 3 are of one system: an ordinary measurement, a failure, a disturbed and an old one. 4 is of another system. */
const MEASUREMENTS = [
  sampleMeasurement(0, { measuredAt: new Date().toISOString() }),
  sampleMeasurement(1, { measuredAt: new Date().toISOString(), outcome: FAILURE }),
  sampleMeasurement(2, { measuredAt: new Date().toISOString(), conditions: BUSY }),
  sampleMeasurement(3, { measuredAt: '2020-01-01T00:00:00.000Z' }),
  sampleMeasurement(4, { measuredAt: new Date().toISOString(), system: OTHER }),
];

async function filled(t: TestContext, kind: string) {
  const place = await workplaceHere(t);
  const uri = KINDS[kind]?.(t, place.store) ?? assert.fail();
  const opened = await openStore(uri, { onWarning: () => undefined });
  for (const measurement of MEASUREMENTS) await opened.putMeasurement(measurement);
  await opened.collection(NOTES).put(note('a'));
  await opened.close();
  const store = (...args: readonly string[]) => place.run(['store', ...args, '--store', uri]);
  /** Indices of the remaining measurements, and the number of remaining notes. */
  const left = async () => {
    const again = await openStore(uri, { onWarning: () => undefined });
    const signatures = (await collect(again.listMeasurements())).map(({ signature }) => signature);
    const notes = await collect(again.collection(NOTES).find({}));
    await again.close();
    const indices = MEASUREMENTS.flatMap((_, index) => (signatures.includes(signatureOf(index)) ? index : []));
    return { indices, notes: notes.length };
  };
  return { store, left };
}

for (const kind of Object.keys(KINDS)) {
  describe(`mlmodelscope store on a store of kind ${kind}`, { ...deadline, concurrency: 2 }, () => {
    it('counts the measurements of each system', async (t) => {
      const { store } = await filled(t, kind);
      const { stdout, code } = await store('info', '--json');
      assert.equal(code, 0);
      const { systems, collections } = JSON.parse(stdout) as {
        systems: readonly { fingerprint: string; measurements: number; failed: number; disturbed: number }[];
        collections: unknown;
      };
      const counts = systems.map(({ fingerprint, measurements, failed, disturbed }) => {
        return [fingerprint, measurements, failed, disturbed];
      });
      assert.deepEqual(
        counts.sort(([a], [b]) => Number(a === OTHER.fingerprint) - Number(b === OTHER.fingerprint)),
        [
          [SYSTEM.fingerprint, 4, 1, 1],
          [OTHER.fingerprint, 1, 0, 0],
        ],
      );
      assert.deepEqual(collections, [{ name: NOTES.name, documents: 1 }]);
      assert.match((await store('info')).stdout, /^measurements: 5, of 2 systems$/m);
    });

    const selections: readonly [readonly string[], readonly number[]][] = [
      [['--failed'], [1]],
      [['--disturbed'], [2]],
      [['--older-than', '4w'], [3]],
      [['--system', OTHER.fingerprint.slice(0, 8)], [4]],
      [['--failed', '--older-than', '4w'], []],
    ];
    for (const [options, meant] of selections) {
      it(`lists and prunes the measurements of ${options.join(' ')}`, async (t) => {
        const { store, left } = await filled(t, kind);
        const listed = (await store('list', ...options, '--json')).stdout.split('\n').filter((line) => line !== '');
        assert.deepEqual(
          listed.map((line) => (JSON.parse(line) as { signature: string }).signature),
          meant.map(signatureOf),
        );
        const many = `${meant.length} measurement${meant.length === 1 ? '' : 's'}`;
        assert.equal((await store('prune', ...options, '--dry-run')).stdout, `would delete ${many}\n`);
        assert.deepEqual((await left()).indices, [0, 1, 2, 3, 4]);
        assert.equal((await store('prune', ...options)).stdout, `deleted ${many}\n`);
        const others = [0, 1, 2, 3, 4].filter((index) => !meant.includes(index));
        assert.deepEqual(await left(), { indices: others, notes: 1 });
      });
    }

    it('deletes a measurement or a system that is named by its first digits', async (t) => {
      const { store, left } = await filled(t, kind);
      const ids = [signatureOf(0).slice(0, 10), OTHER.fingerprint.slice(0, 10)];
      assert.equal((await store('delete', ...ids, '--dry-run')).stdout, 'would delete 2 measurements\n');
      assert.equal((await store('delete', ...ids)).stdout, 'deleted 2 measurements\n');
      assert.deepEqual(await left(), { indices: [1, 2, 3], notes: 1 });
    });

    it('deletes nothing where one of several names is wrong', async (t) => {
      const { store, left } = await filled(t, kind);
      const ending = await store('delete', signatureOf(0).slice(0, 10), 'abcdefabcdef');
      assertOneMessage(ending);
      assert.match(ending.stderr, /begins with abcdefabcdef; `mlmodelscope store list` shows them/);
      assert.equal(ending.code, 2);
      assert.equal((await left()).indices.length, 5);
    });

    it('deletes all documents of one kind, and nothing else', async (t) => {
      const { store, left } = await filled(t, kind);
      assert.equal(
        (await store('delete', '--documents', NOTES.name, '--dry-run')).stdout,
        'would delete 1 document of notes\n',
      );
      assert.equal((await store('delete', '--documents', NOTES.name)).stdout, 'deleted 1 document of notes\n');
      assert.deepEqual(await left(), { indices: [0, 1, 2, 3, 4], notes: 0 });
    });
  });
}

describe('mlmodelscope store', { ...deadline, concurrency: 2 }, () => {
  it('shows each measurement in a line of a table', async (t) => {
    const { store } = await filled(t, 'embedded');
    const { stdout } = await store('list');
    assert.match(stdout, /│ disturbed │ measured \(UTC\) +│/);
    assert.match(stdout, new RegExp(`${signatureOf(1).slice(0, 8)}.*unsupported`));
    assert.match(stdout, new RegExp(`${signatureOf(2).slice(0, 8)}.* ms .*50 %`));
  });

  it('shows no more measurements than --limit, and says how many there are', async (t) => {
    const { store } = await filled(t, 'embedded');
    const { stdout, stderr } = await store('list', '--limit', '2');
    assert.equal(stdout.match(/ (ms|unsupported) /g)?.length, 2);
    assert.match(stderr, /^only the first 2 of 5 measurements are listed; --limit lists more$/m);
    const json = await store('list', '--limit', '1', '--system', SYSTEM.fingerprint, '--json');
    assert.equal(json.stdout.trimEnd().split('\n').length, 1);
    assert.match(json.stderr, /^only the first 1 measurements are listed/);
    assert.equal((await store('list', '--limit', '5')).stderr, '');
  });

  it(
    'imports from files and standard input, and from nothing else',
    { skip: process.platform === 'win32' },
    async (t) => {
      const { store } = await filled(t, 'embedded');
      for (const path of ['/dev/zero', '.', 'nowhere']) {
        const ending = await store('import', path);
        assertOneMessage(ending);
        assert.match(
          ending.stderr,
          /cannot be read: expected a file, found .*; name another file, or - for standard input/,
        );
        assert.equal(ending.code, 2);
      }
    },
  );

  it('shows the settings in which systems and measurements differ', async (t) => {
    const place = await workplaceHere(t);
    const { runOptions } = SYSTEM;
    const plain = sampleSystem({ runOptions: { ...runOptions, optimizationLevel: 'disabled' } });
    const opened = await openStore(place.store, { onWarning: () => undefined });
    await opened.putMeasurement(sampleMeasurement(0));
    const before = await place.run(['store', 'info']);
    for (const runs of [10, 50]) {
      await opened.putMeasurement(sampleMeasurement(1, { system: plain, protocol: { ...PROTOCOL, runs } }));
    }
    await opened.close();
    assert.doesNotMatch(before.stdout, /settings/);
    const { stdout: info } = await place.run(['store', 'info']);
    for (const [{ fingerprint }, settings] of [
      [SYSTEM, 'optimizer all'],
      [plain, 'optimizer off'],
    ] as const) {
      assert.match(info, new RegExp(`${fingerprint.slice(0, 8)} │.*│ ${settings} +│`));
    }
    const { stdout: list } = await place.run(['store', 'list', '--system', plain.fingerprint]);
    assert.match(list, /│ 10 runs +│/);
    assert.match(list, /│ 50 runs +│/);
    const { stderr } = await place.run(['dlbricks', 'compose', 'zoo:squeezenet1.1', '--system', 'zzz']);
    assert.match(stderr, /onnxruntime 1\.30\.0, optimizer off$/m);
  });

  it('prunes and deletes nothing without a selection', async (t) => {
    const { store, left } = await filled(t, 'embedded');
    for (const args of [['prune'], ['delete'], ['delete', '--documents', 'notes', 'abcd'], ['delete', '12']]) {
      assert.equal((await store(...args)).code, 2, args.join(' '));
    }
    assert.deepEqual(await left(), { indices: [0, 1, 2, 3, 4], notes: 1 });
  });
});
