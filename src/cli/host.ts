import { startAgent } from '../agent/server.js';
import type { BenchmarkAgent } from '../agent/benchmark-agent.js';
import { connectAgent } from '../agent/agent-client.js';
import type { CommandHost } from '../evaluation/plugin.js';
import { loadModel } from '../registry/load-model.js';
import { resolveBenchmark } from '../registry/resolve-benchmark.js';
import { openStore } from '../store/open-store.js';
import { createProgress } from './progress.js';
import type { Terminal } from './terminal.js';

/** A host whose resources live as long as one command. */
export interface OwnedHost extends CommandHost {
  readonly exitCode: number;
  /** Closes the store, the connection and the agent, in the reverse order of their opening. */
  close(): Promise<void>;
}

/** What commands get on this machine: real streams, the real store, an agent here or elsewhere. */
export function createHost(terminal: Terminal, signal: AbortSignal): OwnedHost {
  const closers: (() => Promise<void>)[] = [];
  let exitCode = 0;

  async function connect(server: string | undefined): Promise<BenchmarkAgent> {
    let address = server;
    if (address === undefined) {
      const agent = await startAgent({ host: '127.0.0.1', port: 0, resolveModel: resolveBenchmark });
      closers.push(() => agent.close());
      address = agent.address;
    }
    const client = connectAgent(address);
    closers.push(async () => client.close());
    return client;
  }

  return {
    signal,
    color: terminal.color,
    print: terminal.out,
    warn: terminal.err,
    progress: (quiet) => createProgress(terminal, quiet),
    connect,
    openStore: async (uri) => {
      const store = await openStore(uri);
      closers.push(() => store.close());
      return store;
    },
    loadModel,
    setExitCode: (code) => {
      exitCode = code;
    },
    get exitCode() {
      return exitCode;
    },
    close: async () => {
      for (const close of closers.splice(0).reverse()) await close();
    },
  };
}
