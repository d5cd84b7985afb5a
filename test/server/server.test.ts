import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { z } from 'zod';
import type { Analysis } from '../../src/evaluation/analysis.js';
import { connectEvaluations } from '../../src/evaluation/client/evaluation-client.js';
import { runRemoteAnalysis } from '../../src/evaluation/client/remote-analysis.js';
import { evaluationCollections } from '../../src/evaluation/records.js';
import { parseHostPort } from '../../src/rpc/loopback.js';
import { startServer, type ServerOptions } from '../../src/server/server.js';
import { openMemoryStore } from '../../src/store/memory/open.js';
import { assertRefused } from '../rpc/support/refusal.js';
import { until } from '../support/until.js';
import { leaveAtWork, LOADER, submission } from './fake-platform.js';

const deadline = { timeout: 60_000 };
const ID = 'evaluation-1';
const ANYWHERE = { host: '127.0.0.1', port: 0 };

const showResult = () => Promise.resolve(undefined);

async function started(t: TestContext, options: Partial<ServerOptions> = {}) {
  const store = options.store ?? (await openMemoryStore());
  const server = await startServer({ listen: ANYWHERE, store, loader: LOADER, ...options });
  t.after(() => server.close());
  return { server, store };
}

describe('a server', deadline, () => {
  it('answers over gRPC, and over HTTP if it is asked to', async (t) => {
    const { server: plain } = await started(t);
    assert.equal(plain.httpAddress, undefined);
    const { server } = await started(t, { http: { listen: ANYWHERE, showResult } });
    assert.equal((await fetch(`http://${server.httpAddress}/api/v1/agents`)).status, 200);
    for (const { address } of [plain, server]) {
      const client = connectEvaluations(address);
      t.after(() => client.close());
      assert.deepEqual(await client.list(10), []);
    }
  });

  it('ends with everything that it began, once', async (t) => {
    const { server } = await started(t, { http: { listen: ANYWHERE, showResult } });
    const client = connectEvaluations(server.address);
    t.after(() => client.close());
    await client.list(10);
    await Promise.all([server.close(), server.close()]);
    await assertRefused(client.list(10), 'unavailable');
    await assert.rejects(fetch(`http://${server.httpAddress}/api/v1/agents`));
    const listen = parseHostPort(server.address) ?? assert.fail();
    const httpListen = parseHostPort(server.httpAddress ?? '') ?? assert.fail();
    await started(t, { listen, http: { listen: httpListen, showResult } });
  });

  it('does not start where its address is taken, and leaves nothing behind', async (t) => {
    const { server } = await started(t, { http: { listen: ANYWHERE, showResult } });
    const taken = parseHostPort(server.address) ?? assert.fail();
    const takenHttp = parseHostPort(server.httpAddress ?? '') ?? assert.fail();
    const { server: free } = await started(t);
    const listen = parseHostPort(free.address) ?? assert.fail();
    await free.close();
    const store = await openMemoryStore();
    await leaveAtWork(store, ID);
    await assert.rejects(startServer({ listen: taken, store }), /EADDRINUSE|in use/);
    const withHttp = { listen, store, http: { listen: takenHttp, showResult } };
    await assert.rejects(startServer(withHttp), /EADDRINUSE|in use/);
    // The address is free, and so is the evaluation.
    const { server: next } = await started(t, { listen, store });
    await until(() => next.platform.jobs === 1);
  });

  it('continues the evaluations of its store, unless it is told not to', async (t) => {
    const store = await openMemoryStore();
    await leaveAtWork(store, ID);
    const { server: passive } = await started(t, { store, resume: false });
    assert.equal(passive.platform.jobs, 0);
    assert.equal((await passive.platform.get(ID)).record.state, 'running');
    const { server: active } = await started(t, { store });
    assert.equal(active.platform.jobs, 1);
    assert.equal((await evaluationCollections(store).records.get({ id: ID }))?.state, 'queued');
  });

  it('accepts evaluations of plugins that it starts itself, with its own limits', async (t) => {
    const { server } = await started(t, { ownPlugins: ['fake'], limits: { waitForPluginMs: 30 } });
    const client = connectEvaluations(server.address);
    t.after(() => client.close());
    await assertRefused(client.submit(ID, submission()), 'unavailable', /no agent is registered/);
    const asked = client.submit(ID, submission({ plugin: 'other' }));
    await assertRefused(asked, 'unavailable', /the plugin other is not attached/);
  });

  it('runs the analyses of the plugins that it is given, on its store', async (t) => {
    const analysis: Analysis<object> = {
      name: 'count',
      description: 'counts',
      settings: z.strictObject({}),
      run: async (_settings, { store }) => {
        const rows = [{ n: (await store.listSystems()).length }];
        return { columns: [{ key: 'n', title: 'n', align: 'right' }], rows, notes: [] };
      },
    };
    const { server } = await started(t, { analysts: [{ name: 'numbers', analyses: [analysis] }] });
    const asked = { plugin: 'numbers', analysis: 'count', settings: {} };
    assert.deepEqual((await runRemoteAnalysis(server.address, asked, {})).rows, [{ n: 0 }]);
    const { server: without } = await started(t);
    await assertRefused(runRemoteAnalysis(without.address, asked, {}), 'usage');
  });
});
