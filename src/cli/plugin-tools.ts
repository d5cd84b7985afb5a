import { connectAgent } from '../agent/client/agent-client.js';
import type { PluginTools } from '../evaluation/run/run-evaluation.js';
import type { ClientSecurity } from '../rpc/security.js';
import type { ResultStore } from '../store/result-store.js';
import { queuedAgent } from '../work/queued-agent.js';
import type { WorkQueue } from '../work/work-queue.js';
import { cachedGraphs } from './cached-graphs.js';

/** For a process of its own. @param queue where agents take work; undefined: requests go to each agent directly */
export function pluginTools(store: ResultStore, security: ClientSecurity, queue: WorkQueue | undefined): PluginTools {
  return {
    store,
    connect: async ({ address, tls, token }) => {
      // An agent gets its own token only: anyone who may register an agent would get this plugin's.
      return cachedGraphs(await connectAgent(address, { security: { ...security, token: token || undefined }, tls }));
    },
    ...(queue === undefined ? {} : { shared: (agent) => queuedAgent(queue, agent, store) }),
  };
}
