import type { Lifetime } from '../support/lifetime.js';
import { connectEvaluations, type EvaluationClient } from '../../src/evaluation/client/evaluation-client.js';
import type { Evaluation } from '../../src/evaluation/evaluation.js';
import { attachPlugin } from '../../src/evaluation/run/attach-plugin.js';
import type { DispatchLimits } from '../../src/server/dispatcher.js';
import type { ServerSecurity } from '../../src/rpc/security.js';
import { startServer, type ServerOptions } from '../../src/server/server.js';
import type { ResultStore } from '../../src/store/result-store.js';
import { openMemoryStore } from '../../src/store/memory/open.js';
import { until } from '../support/until.js';
import { AGENT, directoryWith, fakeAgent, LOADER } from './fake-platform.js';

export interface ServingOptions {
  readonly limits?: Partial<DispatchLimits>;
  readonly token?: string;
  readonly acceptedTokens?: ServerSecurity['acceptedTokens'];
  readonly identity?: ServerSecurity['identity'];
  readonly clientCaPem?: ServerSecurity['clientCaPem'];
  readonly http?: ServerOptions['http'];
  /** By default, it has one agent that is not there. */
  readonly directory?: ReturnType<typeof directoryWith>;
  /** In memory by default. */
  readonly store?: ResultStore;
}

/** A server on loopback, and a client of it; both end with the test. */
export async function serving(
  t: Lifetime,
  {
    limits = {},
    token,
    acceptedTokens,
    identity,
    clientCaPem,
    http,
    store: given,
    directory: known,
  }: ServingOptions = {},
) {
  const store = given ?? (await openMemoryStore());
  const directory = known ?? directoryWith(AGENT.address);
  const listen = { host: '127.0.0.1', port: 0 };
  const security = { token, acceptedTokens, identity, clientCaPem };
  const server = await startServer({ listen, store, directory, loader: LOADER, limits, http, security });
  const stop = new AbortController();
  const clients: EvaluationClient[] = [];
  t.after(async () => {
    stop.abort();
    for (const client of clients) client.close();
    await server.close();
  });
  const connect = (shown: string | undefined): EvaluationClient => {
    const client = connectEvaluations(server.address, { security: { token: shown } });
    clients.push(client);
    return client;
  };
  const attach = async (evaluation: Evaluation): Promise<void> => {
    const options = { client: { security: { token } }, signal: stop.signal };
    void attachPlugin(evaluation, server.address, { store, connect: () => Promise.resolve(fakeAgent()) }, options);
    await until(() => server.platform.plugins().length > 0);
  };
  return { server, store, directory, address: server.address, client: connect(token), connect, attach };
}
