import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { open } from 'lmdb';
import { messageOf, PlatformError } from '../../../src/base/errors.js';
import { openEmbeddedStore } from '../../../src/store/embedded/open.js';
import { note, NOTES } from '../collection-contract.js';
import { SETUP_KEY, sampleMeasurement, signatureOf, SYSTEM } from '../sample-measurement.js';

/*
 * A process of its own that uses a store, for tests with several of them. Arguments: folder, command, first, count.
 *   put    puts `count` measurements from number `first` on and prints each number when it is stored
 *   watch  finds all of them over and over, until they are all there
 *   notes  puts `count` notes over and over, each time by another author, and prints how often it has
 *   hold   begins to write, prints a line, and never ends
 */

/** Path to run it by. */
export const STORE_PROCESS = fileURLToPath(import.meta.url);

const SAMPLES = 200;

/** The measurement that `put` stores under a number. */
export function putMeasurementOf(index: number): ReturnType<typeof sampleMeasurement> {
  const runMs = Array.from({ length: SAMPLES }, (_, sample) => index + sample / 1000);
  return sampleMeasurement(index, { outcome: { kind: 'samples', runMs, warmupMs: [] } });
}

/** Keeps LMDB's write lock until this process is killed. */
function holdLock(folder: string): void {
  const root = open({ path: folder, noSubdir: false, overlappingSync: false });
  root.transactionSync(() => {
    process.stdout.write('held\n');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });
}

async function main(folder: string, command: string, first: number, count: number): Promise<void> {
  if (command === 'hold') return holdLock(folder);
  const store = await openEmbeddedStore(folder, {});
  const indices = Array.from({ length: count }, (_, index) => first + index);
  if (command === 'put') {
    for (const index of indices) {
      await store.putMeasurement(putMeasurementOf(index));
      process.stdout.write(`${index}\n`);
    }
  } else if (command === 'notes') {
    const notes = store.collection(NOTES);
    for (let round = first; ; round += 1) {
      await notes.putMany(indices.map((index) => note(`n${index}`, { author: `author ${round % 7}` })));
      process.stdout.write(`${round}\n`);
    }
  } else {
    const signatures = indices.map(signatureOf);
    while ((await store.findMeasurements(signatures, SYSTEM.fingerprint, SETUP_KEY)).size < count) await sleep(1);
    process.stdout.write('seen\n');
  }
  await store.close();
}

const [, script, folder, command, first, count] = process.argv;
if (script === STORE_PROCESS && folder !== undefined && command !== undefined) {
  main(folder, command, Number(first), Number(count)).catch((thrown: unknown) => {
    process.stderr.write(thrown instanceof PlatformError ? `${thrown.code}: ${thrown.message}` : messageOf(thrown));
    process.exitCode = 1;
  });
}
