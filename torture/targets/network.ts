import { mkdir, readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { reportSchema } from '../../plugins/dlbricks/report/report-schema.js';
import { makeAuthority } from '../../test/rpc/support/certificates.js';
import { assertEndsOnce, storedEvents } from '../checks/ends-once.js';
import { assertNoOrphan } from '../checks/no-orphan.js';
import { manifestIn, startServer } from '../place/platform.js';
import { moment } from '../place/round.js';
import { HERE, missingForTwoMachines, THERE, twoMachines } from '../place/two-machines.js';
import type { Target } from './target.js';

/** A plugin counts as lost after 15 s without a heartbeat (DEFAULT_DISPATCH_LIMITS), a connection after 40 s. */
const CUTS_MS = [2000, 10_000, 20_000] as const;

/** Cuts the cable between a server and all its clients in the middle of an evaluation. */
export const network: Target = {
  name: 'network',
  share: 1,
  missing: missingForTwoMachines,
  async run(round) {
    const { place, random } = round;
    const { here, there, cut, mend } = twoMachines(round);
    const folder = place.path('authority');
    await mkdir(folder);
    makeAuthority(folder, [HERE, THERE]);
    const file = (name: string): string => place.path('authority', name);
    const flags = ['--tls-cert', file('cert.pem'), '--tls-key', file('key.pem'), '--tls-ca', file('ca.pem')];
    const env = { MLMODELSCOPE_TOKEN: 'as-long-as-a-token-has-to-be' };
    const onServer = { env, through: here, flags: [...flags, '--no-plugins'] };
    const { address, server } = await startServer(place, `${HERE}:0`, onServer);
    const start = (...args: readonly string[]) =>
      place.start([...args, '--server', address, ...flags], { env, through: there });
    const plugin = start('plugin', 'dlbricks');
    const agent = start('agent', '--listen', `${THERE}:0`);
    await Promise.all([plugin.said(/plugin \w+ registered/), agent.said(/registered with/)]);

    const client = start('evaluate', await manifestIn(round), '--export-json', 'report.json');
    const [, id = ''] = await client.said(/^evaluation (\S+)$/m);
    await moment(round);
    cut();
    await setTimeout(random.pick(CUTS_MS));
    mend();
    const { code, stderr } = await client.ended;
    if (code !== 0) throw new Error(`the client ended with ${code}: ${stderr}`);
    reportSchema.parse(JSON.parse(await readFile(place.path('report.json'), 'utf8')));
    for (const { process } of [agent, plugin, server]) process.kill('SIGTERM');
    await assertNoOrphan(place);
    assertEndsOnce(await storedEvents(place.store, id));
  },
};
