import { PlatformError } from '../base/errors.js';
import { createDirectory, type AgentDirectory } from '../directory/agent-directory.js';
import { addAgentRegistryService } from '../directory/agent-registry-service.js';
import { addRegistryService } from '../directory/registry-service.js';
import type { HostPort } from '../rpc/loopback.js';
import type { ClientSecurity, ServerSecurity } from '../rpc/security.js';
import { createRpcServer } from '../rpc/server.js';
import { Leases } from '../store/leases/leases.js';
import type { ResultStore } from '../store/result-store.js';
import type { DispatchLimits } from './dispatcher.js';
import type { Analysts } from '../evaluation/run/named-analysis.js';
import { addAnalysisService } from './analysis-service.js';
import { addEvaluationService } from './evaluation-service.js';
import type { ShowResult } from './http/site-data.js';
import type { WebLimits, WebServer } from './http/web-server.js';
import type { SubmissionLoader } from './loading/submission-loader.js';
import { Platform } from './platform.js';
import { addPluginService } from './plugin-service.js';
import { PredictionForwarding } from './prediction/forwarding.js';
import { addForwardedPredictions } from './prediction/services.js';

export interface ServerOptions {
  readonly listen: HostPort;
  readonly store: ResultStore;
  readonly security?: ServerSecurity | undefined;
  /** The authorities and the certificate for the agents that it forwards predictions to. No token of it is shown. */
  readonly agentSecurity?: ClientSecurity | undefined;
  readonly limits?: Partial<DispatchLimits> | undefined;
  readonly directory?: AgentDirectory | undefined;
  /** Where it serves pages and the API over HTTP, and how it shows results there; undefined for gRPC alone. */
  readonly http?:
    | {
        readonly listen: HostPort;
        readonly showResult: ShowResult;
        readonly limits?: Partial<WebLimits> | undefined;
      }
    | undefined;
  /** See {@link PlatformOptions.loader}; its own by default. */
  readonly loader?: SubmissionLoader | undefined;
  /** See {@link PlatformOptions.ownPlugins}; none by default. */
  readonly ownPlugins?: readonly string[] | undefined;
  /** The plugins whose analyses clients may run on the store; none by default. */
  readonly analysts?: Analysts | undefined;
  /** Whether the server continues the store's evaluations that have not ended; true by default. */
  readonly resume?: boolean | undefined;
}

export interface RunningServer {
  readonly address: string;
  readonly httpAddress: string | undefined;
  readonly platform: Platform;
  /** Disconnects plugins, agents and clients. The next server of this store resumes evaluations that have not ended. */
  close(): Promise<void>;
}

/** @throws PlatformError as the server's `listen`, and `storage` */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const leases = new Leases(options.store, 'evaluation');
  try {
    return await serve(options, leases);
  } catch (error) {
    await leases.close();
    throw error;
  }
}

async function serve(options: ServerOptions, leases: Leases): Promise<RunningServer> {
  const { listen, store, security = {}, agentSecurity = {}, limits = {}, analysts = [], resume = true } = options;
  const { directory = createDirectory(), loader, ownPlugins, http } = options;
  const server = createRpcServer({ security });
  const platform = await Platform.open({ store, agents: directory, limits, loader, leases, ownPlugins }, { resume });
  addAgentRegistryService(server, directory);
  addRegistryService(server, directory);
  addEvaluationService(server, platform);
  addAnalysisService(server, store, analysts);
  addPluginService(server, platform);
  const forwarding = new PredictionForwarding(directory, agentSecurity);
  addForwardedPredictions(server, forwarding);
  const address = await server.listen(listen).catch((error: unknown) => {
    platform.close();
    throw error;
  });
  const reason = new PlatformError(
    'unavailable',
    'the server is shutting down; the evaluation continues when it is started again',
  );
  let web: WebServer | undefined;
  const stop = async (): Promise<void> => {
    await web?.close();
    platform.close();
    await server.close(reason);
    forwarding.close();
    await leases.close();
  };
  if (http !== undefined) {
    // Loaded where it is used, because it takes as long to load as a short command.
    const { startWebServer } = await import('./http/web-server.js');
    const sources = { platform, store, agents: directory, agentSecurity, security };
    web = await startWebServer({ ...http, ...sources }).catch(async (error) => {
      await stop();
      throw error;
    });
  }
  let stopped: Promise<void> | undefined;
  return { address, httpAddress: web?.address, platform, close: () => (stopped ??= stop()) };
}
