import { randomBytes } from 'node:crypto';
import { PlatformError } from '../../base/errors.js';
import { DEFAULT_FRAMEWORK, type FrameworkName } from '../../predictor/frameworks.js';
import { buildRunOptions } from '../../measurement/system.js';
import type { ServerSecurity } from '../../rpc/security.js';
import { createRpcServer, type RpcServer } from '../../rpc/server.js';
import { addBenchmarkService } from './benchmark-service.js';
import type { AgentDescription } from '../agent-description.js';
import { defaultMemoryLimitBytes, describeAgent } from './describe-machine.js';
import { knownHeldCacheBytes } from './held-cache.js';
import { WorkerRunner } from '../worker/worker-runner.js';
import { type PredictAccess, predictInputs } from '../predict/inputs.js';
import { OpenModels } from '../predict/open-models.js';
import { addPredictService, type ResolveModel } from './predict-service.js';
import { addPredictionService } from './prediction-service.js';
import { removeStaleFolders } from '../jobs/temporary-folder.js';
import { addLoadService } from './load-service.js';
import { addTraceService } from './trace-service.js';

export interface AgentServerOptions {
  /** Loopback by default; anything else needs TLS and a token. */
  readonly host?: string;
  readonly port?: number;
  readonly security?: ServerSecurity | undefined;
  readonly framework?: FrameworkName | undefined;
  /** Folder of another package of the framework than the installed one. */
  readonly packageFolder?: string | undefined;
  /** Without it, no model can be opened by name; measuring needs none. */
  readonly resolveModel?: ResolveModel;
  readonly weightFiles?: ReadonlyMap<string, string>;
  /** Keeps what was measured of this machine; without it, the machine's own statements count. */
  readonly machineFolder?: string | undefined;
  readonly access?: PredictAccess;
  /** Longest silence of a client of a load run; by default a minute. */
  readonly silenceLimitMs?: number;
  /** Only its own process calls it, see the server's option. */
  readonly isPrivate?: boolean;
}

export interface RunningAgent {
  readonly description: AgentDescription;
  readonly address: string;
  /** A token that this agent alone accepts, for the servers with which it registers. */
  readonly accessToken: string;
  /** Another address on loopback, without TLS and for its own token. @throws PlatformError as the server's `listen` */
  openDoor(): Promise<{ readonly address: string; readonly token: string }>;
  /** Stops measuring, ends every process that this agent started, and stops listening. May be called again. */
  close(): Promise<void>;
}

const PREDICT_LIMIT_MS = 15 * 60_000;

const knowsNoModels: ResolveModel = (name) => {
  return Promise.reject(new PlatformError('not_found', `this agent has no models, so it cannot open ${name}`));
};

/**
 * Child processes do all heavy work, so that the agent always answers. @throws PlatformError as the server's `listen`
 */
export async function startAgent(options: AgentServerOptions = {}): Promise<RunningAgent> {
  const { host = '127.0.0.1', port = 0, security, isPrivate, resolveModel = knowsNoModels } = options;
  const {
    framework = DEFAULT_FRAMEWORK,
    packageFolder,
    access = {},
    weightFiles = new Map<string, string>(),
    machineFolder,
    silenceLimitMs,
  } = options;
  const ownToken = randomBytes(32).toString('hex');
  const server = createRpcServer({ security: { ...security, ownToken }, isPrivate });
  const stated = describeAgent(framework, packageFolder);
  const cacheBytes = machineFolder === undefined ? stated.cacheBytes : await knownHeldCacheBytes(stated, machineFolder);
  const description = { ...stated, cacheBytes };
  const runner = new WorkerRunner(framework, description.cores, packageFolder);
  const shared = { description, runner, weightFiles, silenceLimitMs };
  const addMeasuring = (to: RpcServer): void => {
    addBenchmarkService(to, shared);
    addTraceService(to, shared);
    addLoadService(to, shared);
  };
  addMeasuring(server);
  const limits = { timeLimitMs: PREDICT_LIMIT_MS, memoryLimitBytes: defaultMemoryLimitBytes(description) };
  const models = new OpenModels({ runner, runOptions: buildRunOptions(description.cores, description), limits });
  const inputs = predictInputs(access);
  const own = { name: description.framework, version: description.frameworkVersion };
  addPredictService(server, { framework: own, resolveModel, models, inputs });
  addPredictionService(server, { description, models, inputs });
  const address = await server.listen({ host, port });
  await removeStaleFolders();

  const servers = [server];
  const openDoor: RunningAgent['openDoor'] = async () => {
    const door = createRpcServer({ security: { token: ownToken } });
    servers.push(door);
    addMeasuring(door);
    return { address: await door.listen({ host: '127.0.0.1', port: 0 }), token: ownToken };
  };
  const stop = async (): Promise<void> => {
    // The calls get this error before their measurements end.
    const reason = new PlatformError('unavailable', 'the agent is shutting down');
    const closed = servers.map((one) => one.close(reason));
    await runner.close();
    await Promise.all(closed);
  };
  let stopped: Promise<void> | undefined;
  return { description, address, accessToken: ownToken, openDoor, close: () => (stopped ??= stop()) };
}
