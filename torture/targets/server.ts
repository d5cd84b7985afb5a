import { connectEvaluations } from '../../src/evaluation/client/evaluation-client.js';
import { freePort } from '../../test/support/free-port.js';
import { assertEndsOnce, assertTold, storedEvents } from '../checks/ends-once.js';
import { assertNoOrphan } from '../checks/no-orphan.js';
import { followed, startServer, submissionIn, submitAtLast } from '../place/platform.js';
import { moment } from '../place/round.js';
import type { Target } from './target.js';

const ID = 'evaluation-1';

/** Kills a server that runs an evaluation; then another server takes over its store. */
export const server: Target = {
  name: 'server',
  share: 5,
  async run(round) {
    const { place, random } = round;
    const first = await startServer(place, `127.0.0.1:${await freePort()}`);
    const agent = place.start(['agent', '--listen', '127.0.0.1:0', '--server', first.address]);
    await agent.said(/registered with/);
    const client = connectEvaluations(first.address);
    round.after(() => client.close());
    const submitting = submitAtLast(client, ID, await submissionIn(round));
    const story = submitting.then(() => followed(client, ID));
    story.catch(() => undefined);
    await moment(round);
    first.server.process.kill('SIGKILL');
    await first.server.ended;
    let { server: last } = await startServer(place, first.address);
    const told = await story;
    assertEndsOnce(told);
    agent.process.kill('SIGKILL');
    if (random.oneIn(2)) {
      // Followers may have the last event before it is written everywhere.
      last.process.kill('SIGKILL');
      await assertNoOrphan(place);
      ({ server: last } = await startServer(place, first.address));
    }
    last.process.kill('SIGTERM');
    await assertNoOrphan(place);
    const stored = await storedEvents(place.store, ID);
    assertEndsOnce(stored);
    assertTold(told, stored);
  },
};
