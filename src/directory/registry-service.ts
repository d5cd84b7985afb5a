import semver from 'semver';
import { setImmediate } from 'node:timers/promises';
import { append, partsOf } from '../base/long-lists.js';
import { oncePer } from '../base/once-per.js';
import {
  Agent,
  FrameworkManifest,
  type FrameworkRequest,
  ModelManifest,
  type ModelRequest,
  type RegistryServer,
  RegistryService,
} from '../generated/carml/org/dlframework/registry.js';
import { parseHostPort } from '../rpc/loopback.js';
import type { WaitForLoop } from '../rpc/active-calls.js';
import type { RpcServer } from '../rpc/server.js';
import type { AgentDirectory, RegisteredAgent } from './agent-directory.js';
import { isSameFramework } from '../base/framework-name.js';
import { goArchitecture } from '../base/go-architecture.js';
import { isAny, isLatest, isSameName, isWithin, platformName } from '../base/platform-name.js';
import { type Listed, pageFor } from './published-pages.js';
import { parseVersionRange } from '../base/version-range.js';

/** @throws PlatformError `usage` for an invalid constraint */
function versionFilter(field: string, constraint: string): (version: string) => boolean {
  const range = parseVersionRange(field, constraint);
  if (range === '*') return () => true;
  // Agents offer thousands of models with few versions.
  const known = new Map<string, boolean>();
  return (version) => {
    const fits = known.get(version) ?? isWithin(version, range);
    known.set(version, fits);
    return fits;
  };
}

function toFrameworkManifest({ framework, frameworkVersion }: RegisteredAgent): FrameworkManifest {
  return { name: framework, version: frameworkVersion, container: {} };
}

function toAgent(agent: RegisteredAgent): Agent {
  const { host, port } = parseHostPort(agent.address) ?? { host: agent.address, port: 0 };
  return {
    host,
    port: String(port),
    hostname: agent.hostname,
    architecture: goArchitecture(agent.architecture),
    hasgpu: false,
    cpuinfo: agent.processor,
    gpuinfo: '',
    frameworks: [toFrameworkManifest(agent)],
    metadata: {
      cores: String(agent.cores),
      memory_bytes: String(agent.memoryBytes),
      operating_system: agent.operatingSystem,
      registered_at: agent.registeredAt,
      tls: String(agent.tls),
    },
  };
}

function versionKey({ name, version }: { readonly name: string; readonly version: string }): string {
  return `${name} ${version}`;
}

/** Items with the same key stay in their order. */
function inOrder<T extends Listed<unknown>>(listed: T[]): T[] {
  return listed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
}

const NUMBER_LENGTH = 15;

function listedAgent(agent: RegisteredAgent): Listed<Agent> {
  return { key: String(agent.number).padStart(NUMBER_LENGTH, '0'), message: toAgent(agent) };
}

interface OfferedModel extends Listed<ModelManifest> {
  readonly agent: RegisteredAgent;
}

/** A model of several frameworks, or of several versions of one, is listed once for each. */
function modelKey({ name, version, framework }: ModelManifest): string {
  return versionKey({ name, version }) + (framework === undefined ? '' : ` ${versionKey(framework)}`);
}

/** Tens of thousands of models are sorted once for many requests. */
const listModels = oncePer(async (agents: readonly RegisteredAgent[]): Promise<readonly OfferedModel[]> => {
  const models = agents.flatMap((agent) => agent.models.map((message) => ({ key: modelKey(message), agent, message })));
  await setImmediate();
  return inOrder(models);
});

/** Checked before other work runs: a constraint takes some microseconds. */
const MODELS_AT_ONCE = 1000;
const AGENTS_AT_ONCE = 5;

/** Other work runs after each part of the list. */
async function inParts<T>(
  list: readonly T[],
  { atOnce, waitForLoop, isMeant }: { atOnce: number; waitForLoop: WaitForLoop; isMeant: (item: T) => boolean },
): Promise<readonly T[]> {
  const meant: T[] = [];
  for (const some of partsOf(list, atOnce)) {
    append(meant, some.filter(isMeant));
    await waitForLoop();
  }
  return meant;
}

/** Versions that npm cannot read come first. */
function compareVersions(one: string, other: string): number {
  const a = semver.coerce(one);
  const b = semver.coerce(other);
  if (a === null || b === null) return a === b ? 0 : a === null ? -1 : 1;
  return semver.compare(semver.valid(one) ?? a, semver.valid(other) ?? b);
}

function isVersion(version: string, other: string | undefined): boolean {
  return other !== undefined && compareVersions(version, other) === 0;
}

function newestVersions(list: readonly (readonly [name: string, version: string])[]): ReadonlyMap<string, string> {
  const versions = new Map<string, string>();
  for (const [name, version] of list) {
    const known = versions.get(name);
    if (known === undefined || compareVersions(version, known) > 0) versions.set(name, version);
  }
  return versions;
}

/** The platform's published registry. */
export function addRegistryService(server: RpcServer, directory: AgentDirectory): void {
  const { calls } = server;

  function agentsWith({ frameworkName, frameworkVersion }: FrameworkRequest): readonly RegisteredAgent[] {
    const fits = versionFilter('framework_version', frameworkVersion);
    const named = directory.list().filter((agent) => {
      const isNamed = isAny(frameworkName) || isSameFramework(frameworkName, agent.framework);
      return isNamed && fits(agent.frameworkVersion);
    });
    if (!isLatest(frameworkVersion)) return named;
    const versions = newestVersions(named.map(({ framework, frameworkVersion: version }) => [framework, version]));
    return named.filter((agent) => isVersion(agent.frameworkVersion, versions.get(agent.framework)));
  }

  /** `latest` is the newest version that these agents offer. */
  async function modelFilter(
    { modelName, modelVersion }: ModelRequest,
    agents: ReadonlySet<RegisteredAgent>,
    waitForLoop: WaitForLoop,
  ): Promise<(model: ModelManifest) => boolean> {
    const fits = versionFilter('model_version', modelVersion);
    const isMeant = ({ name, version }: ModelManifest): boolean => {
      return (isAny(modelName) || isSameName(name, modelName)) && fits(version);
    };
    if (!isLatest(modelVersion)) return isMeant;
    const named = await inParts(await listModels(directory.list()), {
      atOnce: MODELS_AT_ONCE,
      waitForLoop,
      isMeant: ({ agent, message }) => agents.has(agent) && !message.hidden && isMeant(message),
    });
    const versions = newestVersions(named.map(({ message }) => [platformName(message.name), message.version]));
    return (model) => isMeant(model) && isVersion(model.version, versions.get(platformName(model.name)));
  }

  const answers = {
    frameworkManifests: calls.unary((call) => {
      const manifests = agentsWith(call.request).map(toFrameworkManifest);
      const listed = inOrder(manifests.map((message) => ({ key: versionKey(message), message })));
      return { manifests: pageFor(call, listed, (one) => FrameworkManifest.encode(one)) };
    }),
    frameworkAgents: calls.unary((call) => {
      const agents = agentsWith(call.request).map(listedAgent);
      return { agents: pageFor(call, agents, (agent) => Agent.encode(agent)) };
    }),
    modelManifests: calls.unary(async (call, _signal, waitForLoop) => {
      const agents = new Set(agentsWith(call.request));
      const isMeant = await modelFilter(call.request, agents, waitForLoop);
      const models = await listModels(directory.list());
      const isShown = ({ agent, message }: OfferedModel): boolean => {
        return agents.has(agent) && !message.hidden && isMeant(message);
      };
      const shown = await inParts(models, { atOnce: MODELS_AT_ONCE, waitForLoop, isMeant: isShown });
      return { manifests: pageFor(call, shown, (manifest) => ModelManifest.encode(manifest)) };
    }),
    modelAgents: calls.unary(async (call, _signal, waitForLoop) => {
      const fitting = agentsWith(call.request);
      const isMeant = await modelFilter(call.request, new Set(fitting), waitForLoop);
      const agents = await inParts(fitting, {
        atOnce: AGENTS_AT_ONCE,
        waitForLoop,
        isMeant: ({ models }) => models.some(isMeant),
      });
      return { agents: pageFor(call, agents.map(listedAgent), (agent) => Agent.encode(agent)) };
    }),
  } satisfies RegistryServer;
  server.addService(RegistryService, answers);
}
