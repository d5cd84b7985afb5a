import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { z } from 'zod';
import { PlatformError } from '../../src/base/errors.js';
import type { Analysis } from '../../src/evaluation/analysis.js';
import { runRemoteAnalysis } from '../../src/evaluation/client/remote-analysis.js';
import { untilAborted } from '../../src/base/cancellation.js';
import { AnalysisServiceService } from '../../src/generated/mlmodelscope/analysis/v1/analysis.js';
import { createRpcClient } from '../../src/rpc/client.js';
import { createRpcServer } from '../../src/rpc/server.js';
import { addAnalysisService } from '../../src/server/analysis-service.js';
import { openMemoryStore } from '../../src/store/memory/open.js';
import { assertRefused, refusal } from '../rpc/support/refusal.js';
import { until } from '../support/until.js';

const COLUMNS = [{ key: 'n', title: 'n', align: 'right' }] as const;

function counting(): { readonly analysis: Analysis<{ n: number }>; readonly most: () => number } {
  let running = 0;
  let most = 0;
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
    await assertRefused(ask('number', 'count', {}), 'usage', /did you mean numbers\?/);
    await assertRefused(ask('numbers', 'x', {}), 'usage', /there is count/);
    await assertRefused(ask('numbers', 'count', { m: 1 }), 'usage', /there is no setting m/);
    await assertRefused(ask('numbers', 'count', [1]), 'usage', /no JSON object/);
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

  it('takes settings of at most 65,536 characters, which are a JSON object or nothing', async (t) => {
    const address = await serving(t, counting().analysis);
    const client = createRpcClient(address, 'server');
    t.after(() => client.close());
    const ask = (settingsJson: string) => {
      const request = { plugin: 'numbers', analysis: 'count', settingsJson };
      return client.unary(AnalysisServiceService.runAnalysis, request, { deadlineMs: 30_000 });
    };
    const padded = (length: number): string => `{"n":4${' '.repeat(length - 7)}}`;
    for (const [settings, n] of [
      ['', 1],
      ['{}', 1],
      [padded(65_536), 4],
    ] as const) {
      const { tableJson } = await ask(settings);
      assert.deepEqual((JSON.parse(tableJson) as { rows: object }).rows, [{ n }]);
    }
    await assertRefused(ask(padded(65_537)), 'usage', /^settings_json has more than 65536 characters$/);
    for (const wrong of ['{', '[]', '1', 'null'])
      await assert.rejects(ask(wrong), refusal('usage', /^settings_json is no JSON object$/), wrong);
  });

  it('sends no table that is too large for an answer', async (t) => {
    const { analysis } = counting();
    const cells = Array.from({ length: 64 }, (_, at) => [`c${at}`, 'x'.repeat(4096)] as const);
    const columns = cells.map(([key]) => ({ key, title: key, align: 'left' as const }));
    // A row takes a quarter of a MiB, and an answer has 64 MiB.
    const large: typeof analysis = {
      ...analysis,
      run: ({ n }) => Promise.resolve({ columns, rows: Array(n).fill(Object.fromEntries(cells)), notes: [] }),
    };
    const address = await serving(t, large);
    const ask = (n: number) =>
      runRemoteAnalysis(address, { plugin: 'numbers', analysis: 'count', settings: { n } }, {});
    assert.equal((await ask(1)).rows.length, 1);
    await assertRefused(ask(256), 'usage', /^the table of count is too large for one answer; ask for less/);
  });

  it('stops when the client leaves, also while it waits for its turn', async (t) => {
    const { analysis } = counting();
    const signals: AbortSignal[] = [];
    const patient: typeof analysis = {
      ...analysis,
      async run(_settings, { signal }) {
        signals.push(signal ?? assert.fail());
        await untilAborted(signals.at(-1) ?? assert.fail());
        throw new PlatformError('cancelled', 'the client left');
      },
    };
    const address = await serving(t, patient);
    const leaving = [new AbortController(), new AbortController()];
    const client = createRpcClient(address, 'server');
    t.after(() => client.close());
    const asked = leaving.map(({ signal }) => {
      const request = { plugin: 'numbers', analysis: 'count', settingsJson: '' };
      return client.unary(AnalysisServiceService.runAnalysis, request, { deadlineMs: 30_000, signal });
    });
    const settled = Promise.allSettled(asked);
    await until(() => signals.length === 1);
    leaving[1]?.abort();
    await assert.rejects(asked[1] ?? assert.fail());
    leaving[0]?.abort();
    await settled;
    await until(() => signals[0]?.aborted === true);
    const another = new AbortController();
    const request = { plugin: 'numbers', analysis: 'count', settingsJson: '' };
    const last = client.unary(AnalysisServiceService.runAnalysis, request, {
      deadlineMs: 30_000,
      signal: another.signal,
    });
    await until(() => signals.length === 2);
    another.abort();
    await assert.rejects(last);
    assert.equal(signals.length, 2, 'the one that left while it waited never ran');
  });
});
