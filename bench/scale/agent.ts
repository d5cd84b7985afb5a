// An agent in a process of its own that waits instead of measuring; everything else is as in `mlmodelscope agent`. Its
// argument is JSON of AgentSettings. It reports each item to its parent process, and ends when the parent ends.
import { connectAgent } from '../../src/agent/client/agent-client.js';
import { startAgent } from '../../src/agent/services/server.js';
import { announceAgent } from '../../src/directory/announce-agent.js';
import { offeredFacts } from '../../src/directory/agent-offer.js';
import { computeClass } from '../../src/measurement/system.js';
import { openStore } from '../../src/store/open-store.js';
import { openQueue } from '../../src/work/open-queue.js';
import { serveWork } from '../../src/work/serve-work.js';
import type { AgentSettings, AgentTold } from './agent-messages.js';
import { waitingAgent } from './waiting-agent.js';

const settings = JSON.parse(process.argv[2] ?? '{}') as AgentSettings;
const { host, servers, brickMs } = settings;
const tell = (told: AgentTold): void => void process.send?.(told);
const onWarning = (message: string): void => console.error(`${host}: ${message}`);

const stop = new AbortController();
const { signal } = stop;
process.on('disconnect', () => stop.abort()).on('SIGTERM', () => stop.abort());

const running = await startAgent();
const own = await connectAgent(running.address);
const store = await openStore(settings.store, { onWarning, signal });
const queue = await openQueue(settings.queue, { onWarning });
const offer = {
  address: running.address,
  tls: false,
  ...offeredFacts(running.description),
  hostname: host,
  models: [],
};
const system = computeClass(own.description);
let registrations = 0;
const onRegistered = (): void => {
  registrations += 1;
  if (registrations === servers.length) tell({ kind: 'registered', system });
};
const announced = servers.map((server) => announceAgent(offer, server, { signal, onRegistered }));

const agent = waitingAgent(own, {
  host,
  brickMs,
  onItem: (item) => tell({ kind: 'item', ...item }),
});
await serveWork(queue, agent, store, { signal, onWarning });
await Promise.allSettled(announced);
await queue.close();
await store.close();
await own.close();
await running.close();
if (process.connected) process.disconnect();
