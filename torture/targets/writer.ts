import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { measurementKey } from '../../src/measurement/measurement.js';
import { openEmbeddedStore } from '../../src/store/embedded/open.js';
import { measurementId } from '../../src/store/measurement-id.js';
import { putMeasurementOf, STORE_PROCESS } from '../../test/store/embedded/store-process.js';
import { assertKept } from '../checks/store.js';
import type { Round } from '../place/round.js';
import type { Target } from './target.js';

/** Number of pairs of writers in a round, one after the other, each on the store that the pairs before have left. */
const WRITERS = 3;

/** A writer is ready after a few hundred milliseconds, and then writes something every few milliseconds. */
const MAX_MS = 1000;

/** Starts a writer of measurements from this number on and kills it. @returns those that it had acknowledged */
async function killedWriter({ place, random }: Round, first: number): Promise<readonly number[]> {
  const args = [STORE_PROCESS, place.store, 'put', `${first}`, '100000'];
  const writer = spawn(process.execPath, args, { env: place.env, stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  writer.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  const ended = once(writer, 'close');
  await setTimeout(random.below(MAX_MS));
  writer.kill('SIGKILL');
  await ended;
  return said.split('\n').slice(0, -1).map(Number);
}

/** Kills two processes at a time that write to an embedded store. */
export const writer: Target = {
  name: 'writer',
  share: 6,
  async run(round) {
    const acknowledged = new Set<string>();
    for (let first = 0; first < WRITERS * 1_000_000; first += 1_000_000) {
      const both = await Promise.all([killedWriter(round, first), killedWriter(round, first + 500_000)]);
      for (const index of both.flat()) acknowledged.add(measurementId(measurementKey(putMeasurementOf(index))) ?? '');
      await assertKept(openEmbeddedStore.bind(undefined, round.place.store), acknowledged);
    }
  },
};
