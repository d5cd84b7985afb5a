import { connectAgent } from '../agent/client/agent-client.js';
import type { RunningAgent } from '../agent/services/server.js';
import { computeClass } from '../measurement/system.js';
import type { ResultStore } from '../store/result-store.js';
import { serveWork } from '../work/serve-work.js';
import type { WorkQueue } from '../work/work-queue.js';
import type { OwnedHost } from './host.js';

export async function serveQueue(
  running: RunningAgent,
  queue: WorkQueue,
  store: ResultStore,
  host: OwnedHost,
  signal: AbortSignal,
): Promise<void> {
  const { address, token } = await running.openDoor();
  const agent = await connectAgent(address, { security: { token } });
  try {
    const system = computeClass(agent.description);
    host.print(`takes work for systems ${system.slice(0, 8)}\n`);
    await serveWork(queue, agent, store, { signal, onWarning: (message) => host.warn(`warning: ${message}`) });
  } finally {
    await agent.close();
  }
}
