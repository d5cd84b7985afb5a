import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { connectEvaluations } from '../../src/evaluation/client/evaluation-client.js';
import { assertEndsOnce } from '../checks/ends-once.js';
import { assertNoOrphan } from '../checks/no-orphan.js';
import { followed, startServer, submissionIn, submitAtLast } from '../place/platform.js';
import { moment } from '../place/round.js';
import type { Target } from './target.js';

const ID = 'evaluation-1';

/** Seconds by which the clock is off, one after the other: an hour ahead, right again, a day back, right again. */
const OFFSETS = ['+3600', '+0', '-86400', '+0'] as const;

/** Debian's package faketime, for programs with threads. */
const LIBRARY = 'faketime/libfaketimeMT.so.1';

function library(): string | undefined {
  const folders = existsSync('/usr/lib') ? readdirSync('/usr/lib') : [];
  return folders.map((folder) => join('/usr/lib', folder, LIBRARY)).find((path) => existsSync(path));
}

/**
 * Changes the wall clock of server, plugin, agent and the processes that they start. The monotonic clock is not
 * changed.
 */
export const clock: Target = {
  name: 'clock',
  share: 1,
  missing: () => (library() === undefined ? "libfaketime, of Debian's package faketime" : undefined),
  async run(round) {
    const { place } = round;
    const FAKETIME_TIMESTAMP_FILE = await place.write('clock', OFFSETS[1]);
    const env = {
      LD_PRELOAD: library(),
      FAKETIME_TIMESTAMP_FILE,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    };
    const { address, server } = await startServer(place, '127.0.0.1:0', { env });
    const agent = place.start(['agent', '--listen', '127.0.0.1:0', '--server', address], { env });
    await agent.said(/registered with/);
    const client = connectEvaluations(address);
    round.after(() => client.close());
    await submitAtLast(client, ID, await submissionIn(round));
    const story = followed(client, ID);
    story.catch(() => undefined);
    for (const offset of OFFSETS) {
      await place.write('clock', offset);
      await moment(round);
    }
    const told = await story;
    assertEndsOnce(told);
    const starts = told.filter(({ event }) => event.kind === 'started').length;
    if (starts !== 1) throw new Error(`the plugin was taken for lost: it was given the evaluation ${starts} times`);
    for (const { process } of [agent, server]) process.kill('SIGTERM');
    await assertNoOrphan(place);
  },
};
