import { PlatformError } from '../base/errors.js';
import { createDirectory, type LeasedDirectory } from '../directory/agent-directory.js';
import { addAgentRegistryService } from '../directory/agent-registry-service.js';
import { addRegistryService } from '../directory/registry-service.js';
import type { HostPort } from '../rpc/loopback.js';
import type { ClientSecurity, ServerSecurity } from '../rpc/security.js';
import { createRpcServer } from '../rpc/server.js';
import { Leases } from '../store/leases/leases.js';
import type { ResultStore } from '../store/result-store.js';
import type { DispatchLimits } from './dispatcher.js';
import { addEvaluationService } from './evaluation-service.js';
import { Platform } from './platform.js';
import { addPluginService } from './plugin-service.js';
import { PredictionForwarding } from './prediction/forwarding.js';
import { addForwardedPredictions } from './prediction/services.js';
import { leasedOwnership, type Ownership, SOLE_OWNERSHIP } from './ownership.js';
import { StoreClaim } from './store-claim.js';

export interface ServerOptions {
  readonly listen: HostPort;
  /** The store of evaluations and their events. */
  readonly store: ResultStore;
  readonly security?: ServerSecurity | undefined;
  /** The authorities and the certificate for the agents that it forwards predictions to. No token of it is shown. */
  readonly agentSecurity?: ClientSecurity | undefined;
  readonly limits?: Partial<DispatchLimits> | undefined;
  /** Agents that are known without registering. */
  readonly directory?: LeasedDirectory | undefined;
  /**
   * Whether the server continues the store's evaluations that have not ended; true by default. With a store of this
   * machine, only one server at a time may do so.
   */
  readonly resume?: boolean | undefined;
  /** Called if the start takes longer because another server may be using the store. */
  readonly onWait?: ((message: string) => void) | undefined;
}

export interface RunningServer {
  /** host:port */
  readonly address: string;
  readonly platform: Platform;
  /**
   * Resolves when another server has taken over the store because this one seemed dead. Then close this server. Never
   * resolves if several servers share the store.
   */
  readonly lost: Promise<void>;
  /** Disconnects plugins, agents and clients. The next server of this store resumes evaluations that have not ended. */
  close(): Promise<void>;
}

/**
 * Starts the platform: the registry of agents, evaluations, and predictions by its agents.
 *
 * @throws PlatformError as the server's `listen`, `storage`, and `unavailable` if another server uses the store
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const right = await rightTo(options);
  try {
    return await serve(options, right);
  } catch (error) {
    await right.release();
    throw error;
  }
}

/** The right of a server to run evaluations of its store. */
interface StoreRight {
  readonly ownership: Ownership;
  /** See {@link RunningServer.lost}. */
  readonly lost: Promise<void>;
  readonly release: () => Promise<void>;
}

async function rightTo({ store, resume = true, onWait }: ServerOptions): Promise<StoreRight> {
  if (store.isShared === true) {
    const leases = new Leases(store, 'evaluation');
    return { ownership: leasedOwnership(leases), lost: new Promise(() => {}), release: () => leases.close() };
  }
  const claim = await StoreClaim.take(store, { role: resume ? 'server' : 'command', onWait });
  return { ownership: SOLE_OWNERSHIP, lost: claim.lost, release: () => claim.release() };
}

async function serve(options: ServerOptions, right: StoreRight): Promise<RunningServer> {
  const { listen, store, security, agentSecurity = {}, limits = {}, resume = true } = options;
  const { directory = createDirectory() } = options;
  const server = createRpcServer({ security });
  const { ownership, lost } = right;
  const platform = await Platform.open({ store, agents: directory, limits, ownership }, { resume });
  addAgentRegistryService(server, directory);
  addRegistryService(server, directory);
  addEvaluationService(server, platform);
  addPluginService(server, platform);
  const forwarding = new PredictionForwarding(directory, agentSecurity);
  addForwardedPredictions(server, forwarding);
  const address = await server.listen(listen);
  void lost.then(() => platform.close());

  const stop = async (): Promise<void> => {
    platform.close();
    await server.close(
      new PlatformError(
        'unavailable',
        'the server is shutting down; the evaluation continues when it is started again',
      ),
    );
    forwarding.close();
    await right.release();
  };
  let stopped: Promise<void> | undefined;
  return { address, platform, lost, close: () => (stopped ??= stop()) };
}
