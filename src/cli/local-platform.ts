import { connectAgent } from '../agent/client/agent-client.js';
import type { RunningAgent } from '../agent/services/server.js';
import type { Evaluation } from '../evaluation/evaluation.js';
import type { Plugin } from '../evaluation/plugin.js';
import { type RunningServer, startServer } from '../server/server.js';
import { attachPlugin } from '../evaluation/run/attach-plugin.js';
import type { PluginTools } from '../evaluation/run/run-evaluation.js';
import type { FrameworkName } from '../predictor/frameworks.js';
import { offeredFacts } from '../directory/agent-offer.js';
import { createDirectory, type AgentDirectory } from '../directory/agent-directory.js';
import type { ResultStore } from '../store/result-store.js';
import { cachedGraphs } from './cached-graphs.js';
import { startCommandAgent } from './start-agent.js';

export interface LocalPlatformOptions {
  readonly store: ResultStore;
  readonly plugins: readonly Plugin[];
  readonly framework?: FrameworkName | undefined;
}

/** A directory of this one agent, with a lease that never ends. */
function makeDirectory({ address, description }: RunningAgent): AgentDirectory {
  const directory = createDirectory({ leaseMs: Infinity });
  directory.register({ address, tls: false, ...offeredFacts(description), models: [] });
  return directory;
}

/** The whole platform in this process, on loopback. It does not continue other evaluations in the store. */
export async function startLocalPlatform(options: LocalPlatformOptions): Promise<RunningServer> {
  const { store, plugins, framework } = options;
  const agent = await startCommandAgent({ framework });
  const listen = { host: '127.0.0.1', port: 0 };
  const server = await startServer({ listen, store, directory: makeDirectory(agent), resume: false });
  const connect: PluginTools['connect'] = async ({ address }) => cachedGraphs(await connectAgent(address));
  const stop = new AbortController();
  const served: Promise<void>[] = [];
  const register = (evaluation: Evaluation): Promise<void> =>
    new Promise((onRegistered, onRefused) => {
      const tools = { store, connect };
      const attached = attachPlugin(evaluation, server.address, tools, { signal: stop.signal, onRegistered });
      attached.catch(onRefused);
      served.push(attached);
    });
  await Promise.all(plugins.flatMap(({ evaluation }) => (evaluation === undefined ? [] : register(evaluation))));
  return {
    ...server,
    close: async () => {
      await server.close();
      stop.abort();
      await Promise.allSettled(served);
      await agent.close();
    },
  };
}
