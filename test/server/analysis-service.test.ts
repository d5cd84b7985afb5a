import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { z } from 'zod';
import { PlatformError } from '../../src/base/errors.js';
import type { Analysis } from '../../src/evaluation/analysis.js';
import { runRemoteAnalysis } from '../../src/evaluation/client/remote-analysis.js';
import { createRpcServer } from '../../src/rpc/server.js';
import { addAnalysisService } from '../../src/server/analysis-service.js';
import { openMemoryStore } from '../../src/store/memory/open.js';
import { until } from '../support/until.js';

const COLUMNS = [{ key: 'n', title: 'n', align: 'right' }] as const;

function counting(): { readonly analysis: Analysis<{ n: number }>; readonly most: () => number } {
  let [running, most] = [0, 0];
  const analysis: Analysis<{ n: number }> = {
    name: 'count',
    description: 'counts',
    settings: z.strictObject({ n: z.int().default(1) }),
    async run({ n }, { store }) {
      most = Math.max(most, ++running);
      const systems = await store.listSystems();
      running--;
      return { columns: [...COLUMNS], rows: [{ n: n + systems.length }], notes: [] };
    },
  };
  return { analysis, most: () => most };
}

async function serving(t: TestContext, analysis: Analysis<{ n: number }>): Promise<string> {
  const server = createRpcServer({});
  addAnalysisService(server, await openMemoryStore(), [{ name: 'numbers', analyses: [analysis] }]);
  const address = await server.listen({ host: '127.0.0.1', port: 0 });
  t.after(() => server.close(new PlatformError('unavailable', 'the test is over')));
  return address;
}

describe('the analysis service', { timeout: 60_000 }, () => {
  it('runs an analysis on its own store, with settings', async (t) => {
    const address = await serving(t, counting().analysis);
    const asked = { plugin: 'numbers', analysis: 'count', settings: { n: 4 } };
    assert.deepEqual(await runRemoteAnalysis(address, asked, {}), { columns: COLUMNS, rows: [{ n: 4 }], notes: [] });
  });

  it('names what there is, and the settings that are wrong', async (t) => {
    const address = await serving(t, counting().analysis);
    const ask = (plugin: string, analysis: string, settings: object) =>
      runRemoteAnalysis(address, { plugin, analysis, settings }, {});
    await assert.rejects(ask('number', 'count', {}), { code: 'usage', message: /did you mean numbers\?/ });
    await assert.rejects(ask('numbers', 'x', {}), { code: 'usage', message: /there is count/ });
    await assert.rejects(ask('numbers', 'count', { m: 1 }), { code: 'usage', message: /there is no setting m/ });
    await assert.rejects(ask('numbers', 'count', [1]), { code: 'usage', message: /no JSON object/ });
  });

  it('runs one at a time, and refuses more than can wait', async (t) => {
    const { analysis, most } = counting();
    let release = (): void => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    const held: typeof analysis = { ...analysis, run: (...given) => released.then(() => analysis.run(...given)) };
    const address = await serving(t, held);
    const asked = { plugin: 'numbers', analysis: 'count', settings: {} };
    const refused: unknown[] = [];
    const answers = Array.from({ length: 20 }, () => {
      return runRemoteAnalysis(address, asked, {}).catch((error: unknown) => void refused.push(error));
    });
    await until(() => refused.length >= 4);
    release();
    await Promise.all(answers);
    assert.equal(refused.length, 4);
    for (const error of refused) assert.match(String(error), /16 analyses are waiting already/);
    assert.equal(most(), 1);
  });
});
