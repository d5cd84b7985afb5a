import { connectPredictions } from '../../agent/client/prediction-client.js';
import { PlatformError } from '../../base/errors.js';
import type { AgentOptions } from '../../command/options.js';
import { formatHostPort, type HostPort } from '../../rpc/loopback.js';
import type { OwnedHost } from '../host.js';
import { onlyForAgentHere } from '../only-for-agent-here.js';
import type { ModelAsked } from './model-asked.js';

export interface PlaceFlags extends AgentOptions {
  readonly server?: HostPort;
  readonly datasets?: string;
  readonly allowPrivateUrls?: true;
}

const LOCAL = { framework: '--framework', datasets: '--datasets', allowPrivateUrls: '--allow-private-urls' } as const;

function checkPlace(flags: PlaceFlags): void {
  const { server, agent } = flags;
  if (server !== undefined && agent !== undefined) {
    throw new PlatformError('usage', '--server picks an agent by itself; leave one of --agent and --server out');
  }
  if (server === undefined && agent === undefined) return;
  const keys = ['framework', 'datasets', 'allowPrivateUrls'] as const;
  const local = keys.find((key) => flags[key] !== undefined);
  if (local !== undefined) throw onlyForAgentHere(LOCAL[local], server === undefined ? '--agent' : '--server');
}

/** The options' agent or server, else an agent started here. @throws PlatformError `usage` for excluding options */
export async function connectPredictor(flags: PlaceFlags, { path }: ModelAsked, host: OwnedHost) {
  checkPlace(flags);
  const { server, agent: address, framework, datasets, allowPrivateUrls } = flags;
  const options = { security: host.security.client };
  if (server !== undefined || address !== undefined) {
    const client =
      server === undefined
        ? connectPredictions(address ?? '', 'agent', options)
        : connectPredictions(formatHostPort(server), 'server', options);
    return { client, close: () => Promise.resolve(client.close()) };
  }
  // Loaded here, because predicting elsewhere needs no agent, and loading one takes as long as a short command.
  const { startCommandAgent } = await import('../start-agent.js');
  const access = { datasetsFolder: datasets, ...(allowPrivateUrls && { isAllowedAddress: () => true }) };
  const agent = await startCommandAgent({ framework, allowVersion: flags.allowVersion, manifest: path, access });
  const client = connectPredictions(agent.address, 'agent');
  return {
    client,
    close: async () => {
      client.close();
      await agent.close();
    },
  };
}
