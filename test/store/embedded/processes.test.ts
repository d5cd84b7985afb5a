import assert from 'node:assert/strict';
import { execFileSync, spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { rm } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { open } from 'lmdb';
import type { Measurement } from '../../../src/measurement/measurement.js';
import { openEmbeddedStore } from '../../../src/store/embedded/open.js';
import { acquireEnvironment, releaseEnvironment } from '../../../src/store/embedded/shared-environment.js';
import { readSummary } from '../../../src/store/embedded/summary.js';
import { countMeasurements, countAll } from '../../../src/store/system-counts.js';
import { SETUP_KEY, signatureOf, SYSTEM } from '../sample-measurement.js';
import { temporaryFolder } from '../temporary-folder.js';
import { putMeasurementOf, STORE_PROCESS } from './store-process.js';

/** Against hanging only; everything here takes a second or two. */
const DEADLINE = { timeout: 300_000 };

type Child = ChildProcessByStdio<null, Readable, Readable>;

/** A process that works on a store; `wrap` may start it through a shell. */
function start(args: readonly (string | number)[], wrap: readonly string[] = []): Child {
  const [program = '', ...rest] = [...wrap, process.execPath, STORE_PROCESS, ...args.map(String)];
  return spawn(program, rest, { stdio: ['ignore', 'pipe', 'pipe'] });
}

/** What a process printed and how it ended. */
async function finish(child: Child) {
  const [output, errors, [code, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>,
  ]);
  const numbers = output.split('\n').slice(0, -1).map(Number);
  return { output, errors, code, signal, numbers };
}

/** The measurements with these numbers, read in this process; a warning about any of them fails the test. */
async function readBack(folder: string, indices: readonly number[]): Promise<readonly Measurement[]> {
  const store = await openEmbeddedStore(folder, { onWarning: (message) => assert.fail(message) });
  try {
    const found = await store.findMeasurements(indices.map(signatureOf), SYSTEM.fingerprint, SETUP_KEY);
    return [...found.values()];
  } finally {
    await store.close();
  }
}

/** The number of measurements by the summary, which has to be complete. */
async function countIn(folder: string): Promise<number> {
  const store = await openEmbeddedStore(folder, {});
  try {
    const environment = await acquireEnvironment(folder);
    const { measurements, entries } = environment.read(readSummary);
    await releaseEnvironment(environment);
    assert.equal(entries, measurements);
    const counts = await countMeasurements(store.listMeasurements());
    assert.deepEqual(await store.countSystems(), counts);
    return countAll(counts);
  } finally {
    await store.close();
  }
}

/**
 * As LMDB does in a process that opens a store, if it is interrupted between reading the number of the last transaction
 * and writing it to the lock file. In a process of its own: closing the file drops the locks of the process.
 */
function setLastTransactionBack(folder: string): void {
  const script = `
    const data = fs.readFileSync(process.argv[1] + '/data.mdb');
    const [one, other] = [0, 4096].map((page) => data.readBigUInt64LE(page + 152));
    const before = Buffer.alloc(8);
    before.writeBigUInt64LE((one > other ? one : other) - 1n);
    fs.writeSync(fs.openSync(process.argv[1] + '/lock.mdb', 'r+'), before, 0, 8, 8);`;
  execFileSync(process.execPath, ['-e', script, folder]);
}

describe('embedded result store and several processes', DEADLINE, () => {
  it('loses and tears nothing that two processes store while a third one reads', async (t) => {
    const folder = await temporaryFolder(t);
    const ends = await Promise.all(
      [start([folder, 'put', 0, 500]), start([folder, 'put', 500, 500]), start([folder, 'watch', 0, 1000])].map(finish),
    );
    assert.deepEqual(
      ends.map(({ code, errors }) => ({ code, errors })),
      Array(3).fill({ code: 0, errors: '' }),
    );
    const indices = [...Array(1000).keys()];
    assert.deepEqual(await readBack(folder, indices), indices.map(putMeasurementOf));
    assert.equal(await countIn(folder), 1000);
  });

  it('serves two processes that store the same measurements', async (t) => {
    const folder = await temporaryFolder(t);
    const ends = await Promise.all([start([folder, 'put', 0, 200]), start([folder, 'put', 0, 200])].map(finish));
    assert.deepEqual(
      ends.map(({ errors }) => errors),
      ['', ''],
    );
    const indices = [...Array(200).keys()];
    assert.deepEqual(await readBack(folder, indices), indices.map(putMeasurementOf));
    assert.equal(await countIn(folder), 200);
  });

  it('keeps what was stored while another process was opening the store', async (t) => {
    const folder = await temporaryFolder(t);
    const store = await openEmbeddedStore(folder, {});
    const indices = [...Array(30).keys()];
    for (const index of indices) {
      await store.putMeasurement(putMeasurementOf(index));
      if (index % 3 === 0) setLastTransactionBack(folder);
    }
    await store.close();
    assert.deepEqual(await readBack(folder, indices), indices.map(putMeasurementOf));
    assert.equal(await countIn(folder), 30);
  });

  it('keeps what was stored before it makes missing tables while another process is opening the store', async (t) => {
    const folder = await temporaryFolder(t);
    const raw = () => open<string, string>({ path: folder, noSubdir: false, overlappingSync: false });
    const before = raw();
    const tableOf = (root: ReturnType<typeof raw>, name: string) =>
      root.openDB<string, string>({ name, encoding: 'string' });
    tableOf(before, 'format').putSync('store', '{"schemaVersion":2}');
    tableOf(before, 'systems').putSync('a', 'the last one that was stored');
    await before.close();

    const { fstatSync } = fs;
    const mocked = t.mock.method(fs, 'fstatSync', (file: number) => {
      setLastTransactionBack(folder);
      return fstatSync(file);
    });
    syncBuiltinESMExports();
    const store = await openEmbeddedStore(folder, {});
    mocked.mock.restore();
    syncBuiltinESMExports();
    await store.close();
    const after = raw();
    assert.equal(tableOf(after, 'systems').get('a'), 'the last one that was stored');
    await after.close();
  });

  for (const afterAcknowledged of [1, 10, 75]) {
    it(`keeps all that was acknowledged before a kill -9, after ${afterAcknowledged} puts`, async (t) => {
      const folder = await temporaryFolder(t);
      const child = start([folder, 'put', 0, 100_000]);
      let lines = 0;
      child.stdout.on('data', (chunk: Buffer) => {
        lines += chunk.toString().split('\n').length - 1;
        // A random while later, to hit any moment of the next put.
        if (lines >= afterAcknowledged) setTimeout(() => child.kill('SIGKILL'), Math.random() * 5);
      });
      const { signal, numbers } = await finish(child);
      assert.equal(signal, 'SIGKILL');
      assert(numbers.length >= afterAcknowledged);
      assert.deepEqual(await readBack(folder, numbers), numbers.map(putMeasurementOf));
    });
  }

  it('goes on storing when another process is killed in the middle of it', async (t) => {
    const folder = await temporaryFolder(t);
    const victim = start([folder, 'put', 1000, 100_000]);
    const survivor = start([folder, 'put', 0, 300]);
    survivor.stdout.once('data', () => setTimeout(() => victim.kill('SIGKILL'), Math.random() * 20));
    const [{ code, errors, numbers }] = await Promise.all([finish(survivor), finish(victim)]);
    assert.deepEqual({ code, errors }, { code: 0, errors: '' });
    assert.deepEqual(await readBack(folder, numbers), numbers.map(putMeasurementOf));
  });

  it('says that it waits for a process that does not finish writing, and goes on when that one is killed', async (t) => {
    const folder = await temporaryFolder(t);
    const warnings: string[] = [];
    const store = await openEmbeddedStore(folder, { onWarning: (message) => warnings.push(message) });
    const holder = start([folder, 'hold']);
    await once(holder.stdout, 'data');
    t.mock.timers.enable({ apis: ['setTimeout'] });

    const put = store.putMeasurement(putMeasurementOf(1));
    await nextTurn();
    assert.deepEqual(warnings, []);
    t.mock.timers.tick(10_000);
    t.mock.timers.reset();
    assert.match(warnings.join(), /another process is writing to the same store/);

    holder.kill('SIGKILL');
    await put;
    await store.close();
    assert.deepEqual(await readBack(folder, [1]), [putMeasurementOf(1)]);
  });

  it('reports a limit on the file size as a storage error and keeps what was there', async (t) => {
    const folder = await temporaryFolder(t);
    // Units of 512 or 1024 bytes, as the shell has it.
    const end = await finish(start([folder, 'put', 0, 100_000], ['sh', '-c', 'ulimit -f 3000; exec "$@"', 'sh']));
    assert.equal(end.code, 1);
    assert.match(end.errors, /^storage: The store .* could not be written to: .*limit on file sizes.*ulimit -f/);
    assert(end.numbers.length > 0);
    assert.deepEqual(await readBack(folder, end.numbers), end.numbers.map(putMeasurementOf));
  });

  it('reports that its folder was deleted instead of storing into nowhere', async (t) => {
    const folder = await temporaryFolder(t);
    const child = start([folder, 'put', 0, 100_000]);
    child.stdout.once('data', () => void rm(folder, { recursive: true, force: true }));
    const { code, errors } = await finish(child);
    assert.equal(code, 1);
    assert.match(errors, /^storage: The store .* was deleted while it was in use/);
  });
});
