import type { handleUnaryCall } from '@grpc/grpc-js';
import semver from 'semver';
import { PlatformError } from '../base/errors.js';
import {
  type Agent,
  type Agents,
  type FrameworkManifest,
  type FrameworkManifestsResponse,
  type FrameworkRequest,
  type ModelManifest,
  type ModelManifestsResponse,
  type ModelRequest,
  RegistryService,
} from '../generated/carml/org/dlframework/registry.js';
import { parseHostPort } from '../rpc/loopback.js';
import type { RpcServer } from '../rpc/server.js';
import type { AgentDirectory, RegisteredAgent } from './agent-directory.js';
import { isSameFramework } from '../base/framework-name.js';

/** The platform's contract uses Go's names of architectures; these differ from those of Node.js. */
const GO_ARCHITECTURES: ReadonlyMap<string, string> = new Map([
  ['x64', 'amd64'],
  ['ia32', '386'],
]);

/** Whether a version is within a constraint; an empty constraint holds for all. */
type Fits = (version: string) => boolean;

/** @throws PlatformError `usage` for an invalid constraint */
function versionFilter(field: string, constraint: string): Fits {
  if (constraint === '') return () => true;
  const range = constraint.length <= 100 ? semver.validRange(constraint) : null;
  if (range === null) {
    const shown = constraint.slice(0, 100);
    throw new PlatformError('usage', `${field}: "${shown}" is not a version constraint such as ^1.20`);
  }
  return (version) => semver.satisfies(version, range, { includePrerelease: true });
}

function frameworkOf({ framework, frameworkVersion }: RegisteredAgent): FrameworkManifest {
  return { name: framework, version: frameworkVersion, container: {} };
}

function toAgent(agent: RegisteredAgent): Agent {
  const { host, port } = parseHostPort(agent.address) ?? { host: agent.address, port: 0 };
  return {
    host,
    port: String(port),
    hostname: agent.hostname,
    architecture: GO_ARCHITECTURES.get(agent.architecture) ?? agent.architecture,
    hasgpu: false,
    cpuinfo: agent.processor,
    gpuinfo: '',
    frameworks: [frameworkOf(agent)],
    metadata: {
      cores: String(agent.cores),
      memory_bytes: String(agent.memoryBytes),
      operating_system: agent.operatingSystem,
      registered_at: agent.registeredAt,
      tls: String(agent.tls),
    },
  };
}

/** Things of the same name and version once, in the order of their names. */
function unique<T extends { readonly name: string; readonly version: string }>(things: readonly T[]): T[] {
  const byKey = new Map(things.map((thing) => [`${thing.name} ${thing.version}`, thing]));
  return [...byKey.keys()].sort().flatMap((key) => byKey.get(key) ?? []);
}

/** Adds the platform's published registry: the frameworks and models of all registered agents. */
export function addRegistryService(server: RpcServer, directory: AgentDirectory): void {
  const { calls } = server;

  function agentsWith({ frameworkName, frameworkVersion }: FrameworkRequest): readonly RegisteredAgent[] {
    const fits = versionFilter('framework_version', frameworkVersion);
    return directory.list().filter((agent) => {
      const isNamed = frameworkName === '' || isSameFramework(frameworkName, agent.framework);
      return isNamed && fits(agent.frameworkVersion);
    });
  }

  /** The models of an agent that a request selects. */
  function modelFilter({
    modelName,
    modelVersion,
  }: ModelRequest): (agent: RegisteredAgent) => readonly ModelManifest[] {
    const fits = versionFilter('model_version', modelVersion);
    return ({ models }) => {
      return models.filter(({ name, version }) => (modelName === '' || name === modelName) && fits(version));
    };
  }

  const frameworkManifests: handleUnaryCall<FrameworkRequest, FrameworkManifestsResponse> = (call, callback) => {
    void calls.answer(call, callback, () => ({ manifests: unique(agentsWith(call.request).map(frameworkOf)) }));
  };

  const frameworkAgents: handleUnaryCall<FrameworkRequest, Agents> = (call, callback) => {
    void calls.answer(call, callback, () => ({ agents: agentsWith(call.request).map(toAgent) }));
  };

  const modelManifests: handleUnaryCall<ModelRequest, ModelManifestsResponse> = (call, callback) => {
    void calls.answer(call, callback, () => {
      const modelsOf = modelFilter(call.request);
      return {
        manifests: unique(
          agentsWith(call.request)
            .flatMap(modelsOf)
            .filter(({ hidden }) => !hidden),
        ),
      };
    });
  };

  const modelAgents: handleUnaryCall<ModelRequest, Agents> = (call, callback) => {
    void calls.answer(call, callback, () => {
      const modelsOf = modelFilter(call.request);
      const agents = agentsWith(call.request).filter((agent) => modelsOf(agent).length > 0);
      return { agents: agents.map(toAgent) };
    });
  };

  server.addService(RegistryService, { frameworkManifests, frameworkAgents, modelManifests, modelAgents });
}
