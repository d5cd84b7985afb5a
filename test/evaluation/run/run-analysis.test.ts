import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertRefused } from '../../rpc/support/refusal.js';
import { PlatformError } from '../../../src/base/errors.js';
import { type Analysis, MAX_ROWS } from '../../../src/evaluation/analysis.js';
import { runAnalysis } from '../../../src/evaluation/run/run-analysis.js';
import { openMemoryStore } from '../../../src/store/memory/open.js';
import { z } from '../../../src/plugin-api.js';
import { sampleMeasurement } from '../../store/sample-measurement.js';

const columns = [{ key: 'count', title: 'count', align: 'right' }] as const;

function analysisOf(run: Analysis['run'], settings: Analysis['settings'] = z.strictObject({})): Analysis {
  return { name: 'test', description: 'a test', settings, run };
}

async function ran(analysis: Analysis, settings: object = {}, timeLimitMs = 5000) {
  const { signal } = new AbortController();
  return runAnalysis(analysis, settings, { store: await openMemoryStore(), signal, timeLimitMs });
}

const rows = (count: number) => Array.from({ length: count }, (_, index) => ({ count: index }));

describe('runAnalysis', () => {
  it('passes the settings with their defaults, and returns the table', async () => {
    const settings = z.strictObject({ most: z.int().default(2) });
    const analysis: Analysis<z.infer<typeof settings>> = {
      ...analysisOf(() => Promise.reject(new Error('never'))),
      settings,
      run: ({ most }) => Promise.resolve({ columns, rows: rows(most), notes: [] }),
    };
    assert.deepEqual((await ran(analysis)).rows, [{ count: 0 }, { count: 1 }]);
    assert.equal((await ran(analysis, { most: 3 })).rows.length, 3);
  });

  it('names wrong settings, and suggests right ones', async () => {
    const analysis = analysisOf(
      () => Promise.resolve({ columns, rows: [], notes: [] }),
      z.strictObject({ percentiles: z.array(z.number()).default([]) }),
    );
    const asked = ran(analysis, { percentile: [1] });
    await assertRefused(asked, 'usage', /no setting percentile \(did you mean percentiles\?\)/);
    await assertRefused(ran(analysis, { percentiles: 'x' }), 'usage', /percentiles: expected a list, found a text/);
  });

  it('says which analysis threw, and leaves a PlatformError unchanged', async () => {
    const thrower = analysisOf(() => Promise.reject(new Error('boom')));
    const asked = ran(thrower);
    await assertRefused(asked, 'internal', /^the analysis test failed: Error: boom\n +at .*run-analysis\.test\.js/);
    const own = new PlatformError('not_found', 'no such system');
    await assert.rejects(ran(analysisOf(() => Promise.reject(own))), (thrown) => thrown === own);
  });

  it('refuses too many rows, and rows that do not fit the columns', async () => {
    for (const wrong of [rows(MAX_ROWS + 1), [{ other: 1 }], [{ count: NaN }]]) {
      const analysis = analysisOf(() => Promise.resolve({ columns, rows: wrong as never, notes: [] }));
      await assertRefused(ran(analysis), 'internal', /returned no table that can be shown: .*rows/);
    }
  });

  it('abandons an analysis that does not end', async () => {
    const endless = analysisOf(() => new Promise(() => {}));
    await assertRefused(ran(endless, {}, 20), 'timeout', /did not end within 0\.02 s/);
  });

  it('ends an analysis that reads endlessly, from a store that never waits', async () => {
    const store = await openMemoryStore();
    for (let index = 0; index < 300; index++) await store.putMeasurement(sampleMeasurement(index));
    const read: string[] = [];
    let stopped = (): void => {};
    const stopping = new Promise<void>((resolve) => (stopped = resolve));
    const analysis = analysisOf(async (_, context) => {
      try {
        for (;;) {
          for await (const { signature } of context.store.listMeasurements()) read.push(signature);
        }
      } finally {
        stopped();
      }
    });
    const { signal } = new AbortController();
    await assertRefused(runAnalysis(analysis, {}, { store, signal, timeLimitMs: 50 }), 'timeout');
    assert.ok(read.length > 0);
    const before = read.length;
    await stopping;
    assert.ok(read.length - before <= 256, 'it continues to read');
  });

  it('ends at once when it is cancelled', async () => {
    const controller = new AbortController();
    const options = { store: await openMemoryStore(), signal: controller.signal };
    const running = runAnalysis(
      analysisOf(() => new Promise(() => {})),
      {},
      options,
    );
    controller.abort();
    await assertRefused(running, 'cancelled');
  });

  it('passes a store that cannot be written to', async () => {
    const analysis = analysisOf((_, { store }) => {
      assert.ok(!('putMeasurement' in store) && !('close' in store));
      return Promise.resolve({ columns, rows: [], notes: [] });
    });
    assert.deepEqual((await ran(analysis)).rows, []);
  });
});
