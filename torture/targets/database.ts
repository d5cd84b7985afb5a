import { setTimeout } from 'node:timers/promises';
import { openStore } from '../../src/store/open-store.js';
import { needsFerretDb, startFerretDb } from '../../test/store/mongodb/ferretdb-process.js';
import { planIn } from '../../test/cli/support/report.js';
import { assertFullCoverage } from '../checks/full-coverage.js';
import { assertNoOrphan } from '../checks/no-orphan.js';
import { withWholeStore } from '../checks/store.js';
import { moment } from '../place/round.js';
import { commandIn } from './command.js';
import type { Target } from './target.js';

/** Maximum downtime of the database; commands wait longer for it. */
const MAX_MS = 3000;

/**
 * FerretDB's SQLite backend makes a collection in several steps, and can never make it again where it is killed between
 * them ("table already exists"). MongoDB makes it in one.
 */
async function makeStore(uri: string): Promise<void> {
  const store = await openStore(uri, { onWarning: () => undefined });
  await store.close();
}

/** Kills the MongoDB-compatible server that a command stores in. */
export const database: Target = {
  name: 'database',
  share: 3,
  missing: () => (needsFerretDb.skip === false ? undefined : 'FERRETDB, as test/store/mongodb/ferretdb.sh sets it'),
  async run(round) {
    const { place, random } = round;
    const server = await startFerretDb(round);
    const uri = `mongodb://${server.address}/results`;
    await makeStore(uri);
    const args = [...(await commandIn(place, random.pick(['kernel', 'layer']))), '-', '--store', uri];
    const command = place.start(args);
    await moment(round);
    await server.signal('SIGKILL');
    await setTimeout(random.below(MAX_MS));
    await server.start();
    const first = await command.ended;
    // A command does not wait for a store that it cannot open: the address may be wrong.
    const wasOpen = !/cannot be opened/.test(first.stderr);
    if (wasOpen) {
      assertFullCoverage(first);
      await withWholeStore(openStore.bind(undefined, uri), () => Promise.resolve());
    }
    const again = await place.run(args);
    assertFullCoverage(again);
    const { toMeasure } = planIn(again);
    if (wasOpen && toMeasure > 0)
      throw new Error(`${toMeasure} measurements that the database had acknowledged are lost`);
    await assertNoOrphan(place);
  },
};
