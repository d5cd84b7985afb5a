import { randomUUID } from 'node:crypto';
import type { BenchmarkAgent } from '../agent/benchmark-agent.js';
import { messageOf } from '../base/errors.js';
import type { CommandHost, Progress } from '../evaluation/plugin.js';
import { EXIT_PARTIAL } from '../base/exit-codes.js';
import type { FrameworkName } from '../predictor/frameworks.js';
import type { ResultStore } from '../store/result-store.js';
import { SPANS } from '../tracing/span-document.js';
import { activeTracing } from '../tracing/tracing.js';
import type { WorkQueue } from '../work/work-queue.js';
import { onlyForAgentHere } from './only-for-agent-here.js';
import { createProgress } from './progress.js';
import { NO_SECURITY, type Security } from './security.js';
import type { Terminal } from './terminal.js';

export interface OwnedHost extends CommandHost {
  readonly exitCode: number;
  /** The queue at `uri`; closed when the command ends. @throws PlatformError as openQueue */
  openQueue(uri: string): Promise<WorkQueue>;
  /** Names this process in the warnings of its stores and queues, where another one shows them beside its own. */
  warnAs(speaker: string): void;
  /** TLS and the token, from the command line and the environment. */
  readonly security: Security;
  secure(security: Security): void;
  /** Closes connections, agents and queues in the reverse order of their opening, then the stores. */
  close(): Promise<void>;
}

/** An agent that a service manager starts again is back within this time. */
const AGENT_PATIENCE_MS = 10_000;

/** Loads only the modules that a command needs, because loading takes most of the time of a short command. */
export function createHost(terminal: Terminal, signal: AbortSignal): OwnedHost {
  const closers: (() => Promise<void>)[] = [];
  /** Closed last, because the spans of all other resources are stored there. */
  const stores: ResultStore[] = [];
  const weightFiles = new Map<string, string>();
  let shown: Progress | undefined;
  let exitCode = 0;
  let spoolingStores = 0;
  let security = NO_SECURITY;
  let speaker = '';

  function warn(line: string): void {
    if (shown === undefined) terminal.err(line);
    else shown.warn(line);
  }

  function onWarning(message: string): void {
    warn(`warning: ${speaker}${message}`);
  }

  async function connect(
    server: string | undefined,
    framework?: FrameworkName,
    packageFolder?: string,
  ): Promise<BenchmarkAgent> {
    if (server !== undefined && framework !== undefined) throw onlyForAgentHere('--framework', '--agent');
    let address = server;
    if (address === undefined) {
      const { startCommandAgent } = await import('./start-agent.js');
      const agent = await startCommandAgent({ framework, packageFolder, weightFiles, isPrivate: true });
      closers.push(() => agent.close());
      address = agent.address;
    }
    const { connectAgent } = await import('../agent/client/agent-client.js');
    const { cachedGraphs } = await import('./cached-graphs.js');
    if (server !== undefined) {
      const { standbyAgent } = await import('../agent/spread/standby-agent.js');
      const at = { name: server, connect: () => connectAgent(server, { security: security.client }) };
      const tell = (message: string): void => warn(`warning: ${message}`);
      const agent = await standbyAgent([at], { tell, patienceMs: AGENT_PATIENCE_MS, signal });
      closers.push(() => agent.close());
      return cachedGraphs(agent);
    }
    // It is started for this command alone, and needs no token.
    const client = await connectAgent(address);
    closers.push(() => client.close());
    const cached = cachedGraphs(client);
    const offerWeights = (path: string): string => {
      // Other clients of the agent cannot name the file.
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
    openStore: async (uri, access) => {
      const { openStore } = await import('../store/open-store.js');
      const store = await openStore(uri, {
        ...access,
        onWarning,
        onSpooled: (areWaiting) => (spoolingStores += areWaiting ? 1 : -1),
        signal,
      });
      stores.push(store);
      if (store.isReadOnly !== true) {
        const spans = store.collection(SPANS);
        await activeTracing()?.keepSpansIn((finished) => spans.putMany(finished));
      }
      return store;
    },
    openQueue: async (uri) => {
      const { openQueue } = await import('../work/open-queue.js');
      const queue = await openQueue(uri, {
        onWarning,
        caPem: security.client.caPem,
      });
      closers.push(() => queue.close());
      return queue;
    },
    readModel: async (reference, options) => {
      const { readSizedModel } = await import('../registry/load-model.js');
      return readSizedModel(reference, options);
    },
    warnAs: (name) => void (speaker = `${name}: `),
    setExitCode: (code) => void (exitCode = code),
    get exitCode() {
      return exitCode === 0 && spoolingStores > 0 ? EXIT_PARTIAL : exitCode;
    },
    get security() {
      return security;
    },
    secure: (given) => void (security = given),
    close: async () => {
      for (const close of closers.splice(0).reverse()) await close();
      // Stores the finished spans, and no more.
      await activeTracing()
        ?.keepSpansIn(undefined)
        .catch((error: unknown) => warn(`warning: the trace is not in the store: ${messageOf(error)}`));
      for (const store of stores.splice(0).reverse()) await store.close();
    },
  };
}
