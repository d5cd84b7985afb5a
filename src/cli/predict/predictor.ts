import { connectPredictions } from '../../agent/client/prediction-client.js';
import { PlatformError } from '../../base/errors.js';
import type { AgentOptions } from '../../command/options.js';
import { loadPredictionModel } from '../../registry/prediction-model.js';
import { resolvePredictionModel } from '../../registry/resolve-prediction-model.js';
import { formatHostPort, type HostPort } from '../../rpc/loopback.js';
import type { OwnedHost } from '../host.js';
import { machineFolder } from '../machine-folder.js';
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
  const { startAgent } = await import('../../agent/services/server.js');
  const agent = await startAgent({
    framework,
    machineFolder: machineFolder(),
    resolveModel: (name, version, own) => {
      // For a manifest file, the request itself asks for the manifest's framework.
      if (path !== undefined) return loadPredictionModel(path);
      const running = { framework: own.name, frameworkVersion: own.version, allowVersion: flags.allowVersion ?? false };
      return resolvePredictionModel(name, version, { runsOn: running });
    },
    access: { datasetsFolder: datasets, ...(allowPrivateUrls && { isAllowedAddress: () => true }) },
  });
  const client = connectPredictions(agent.address, 'agent');
  return {
    client,
    close: async () => {
      client.close();
      await agent.close();
    },
  };
}
