import { type AgentServerOptions, type RunningAgent, startAgent } from '../agent/services/server.js';
import { loadPredictionModel } from '../registry/prediction-model.js';
import { resolvePredictionModel } from '../registry/resolve-prediction-model.js';
import { machineFolder } from './machine-folder.js';

interface CommandAgentOptions extends Omit<AgentServerOptions, 'resolveModel' | 'machineFolder'> {
  /** Whether it opens models on other versions of the framework than their manifests ask for. */
  readonly allowVersion?: boolean | undefined;
  /** Folder of manifests that come before those of the platform. */
  readonly models?: string | undefined;
  /** The manifest of the only model that it opens: its caller asks for the manifest's framework. */
  readonly manifest?: string | undefined;
}

/** Opens the models of the platform too. @throws PlatformError as {@link startAgent} */
export function startCommandAgent(options: CommandAgentOptions): Promise<RunningAgent> {
  const { allowVersion = false, models: folder, manifest, ...server } = options;
  return startAgent({
    ...server,
    machineFolder: machineFolder(),
    resolveModel: (name, version, { name: framework, version: frameworkVersion }) =>
      manifest === undefined
        ? resolvePredictionModel(name, version, { folder, runsOn: { framework, frameworkVersion, allowVersion } })
        : loadPredictionModel(manifest),
  });
}
