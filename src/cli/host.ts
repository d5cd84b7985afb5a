import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { logVerbosity, setLogVerbosity } from '@grpc/grpc-js';
import { startAgent } from '../agent/services/server.js';
import type { BenchmarkAgent } from '../agent/benchmark-agent.js';
import { connectAgent } from '../agent/client/agent-client.js';
import { cacheOptimizedGraphs } from '../agent/client/optimized-graph-cache.js';
import { messageOf, PlatformError } from '../base/errors.js';
import type { CommandHost, Progress } from '../evaluation/plugin.js';
import { EXIT_PARTIAL } from '../base/exit-codes.js';
import type { FrameworkName } from '../predictor/frameworks.js';
import { loadModel } from '../registry/load-model.js';
import { resolvePredictionModel } from '../registry/resolve-prediction-model.js';
import { keepNoMoreSpans, keepSpans } from '../store/keep-spans.js';
import { openStore } from '../store/open-store.js';
import type { ResultStore } from '../store/result-store.js';
import { defaultCacheDir } from '../zoo/cache.js';
import { createProgress } from './progress.js';
import { NO_SECURITY, type Security } from './security.js';
import type { Terminal } from './terminal.js';

/** A host whose resources live as long as one command. */
export interface OwnedHost extends CommandHost {
  readonly exitCode: number;
  /** What the command line and the environment say about TLS and the token. */
  readonly security: Security;
  /** Called once, before the command's action. */
  secure(security: Security): void;
  /** Closes the connection and the agent, in the reverse order of their opening, then the store. */
  close(): Promise<void>;
}

/** Settings that every agent can describe itself with. */
const ANY_RUN_OPTIONS = { threads: 1, executionProvider: 'cpu', optimizationLevel: 'all' } as const;

/** The library would print its own account of every failure beside ours, unless its users' variables ask for it. */
function quietGrpc({ env } = process): void {
  if (env['GRPC_VERBOSITY'] === undefined && env['GRPC_NODE_VERBOSITY'] === undefined) {
    setLogVerbosity(logVerbosity.NONE);
  }
}

/** What commands get on this machine: real streams, the real store, an agent here or elsewhere. */
export function createHost(terminal: Terminal, signal: AbortSignal): OwnedHost {
  const closers: (() => Promise<void>)[] = [];
  /** Closed after everything else, for the spans of everything else go there. */
  const stores: ResultStore[] = [];
  /** What the agent that is started here may read, and what stands for it. */
  const weightFiles = new Map<string, string>();
  let shown: Progress | undefined;
  let exitCode = 0;
  /** Something is on this machine that should be on a server. */
  let isSpooled = false;
  let security = NO_SECURITY;
  quietGrpc();

  /** Past a bar that is on the screen. */
  function warn(line: string): void {
    if (shown === undefined) terminal.err(line);
    else shown.warn(line);
  }

  async function connect(server: string | undefined, framework?: FrameworkName): Promise<BenchmarkAgent> {
    if (server !== undefined && framework !== undefined) {
      const problem = `--framework is for an agent that is started here; the one at ${server} has its own`;
      throw new PlatformError('usage', `${problem}: leave one of --server and --framework out`);
    }
    let address = server;
    if (address === undefined) {
      const resolveModel = resolvePredictionModel;
      const agent = await startAgent({ host: '127.0.0.1', port: 0, framework, resolveModel, weightFiles });
      closers.push(() => agent.close());
      address = agent.address;
    }
    // The agent that was started for this command alone has nothing to prove.
    const client = connectAgent(address, server === undefined ? {} : { security: security.client });
    closers.push(() => client.close());
    // A wrong address is to be noticed before anything slow begins.
    if (server !== undefined) await client.system(ANY_RUN_OPTIONS);
    const cached = cacheOptimizedGraphs(client, join(defaultCacheDir(), 'graphs'));
    if (server !== undefined) return cached;
    const offerWeights = (path: string): string => {
      // Nobody else who reaches the agent can name it.
      const standsFor = randomUUID();
      weightFiles.set(standsFor, path);
      return standsFor;
    };
    return { ...cached, offerWeights };
  }

  return {
    signal,
    color: terminal.color,
    columns: terminal.columns,
    print: terminal.out,
    warn,
    progress: (quiet) => (shown = createProgress(terminal, quiet)),
    connect,
    openStore: async (uri) => {
      const store = await openStore(uri, {
        onWarning: (message) => warn(`warning: ${message}`),
        onSpooled: () => (isSpooled = true),
        signal,
      });
      stores.push(store);
      await keepSpans(store);
      return store;
    },
    loadModel,
    setExitCode: (code) => {
      exitCode = code;
    },
    get exitCode() {
      return exitCode === 0 && isSpooled ? EXIT_PARTIAL : exitCode;
    },
    get security() {
      return security;
    },
    secure: (given) => {
      security = given;
    },
    close: async () => {
      for (const close of closers.splice(0).reverse()) await close();
      await keepNoMoreSpans().catch((error: unknown) =>
        warn(`warning: the trace is not in the store: ${messageOf(error)}`),
      );
      for (const store of stores.splice(0).reverse()) await store.close();
    },
  };
}
