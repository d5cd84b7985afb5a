import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { runLoad } from '../../../plugins/load/run-load.js';
import { settingsSchema } from '../../../plugins/load/settings.js';
import { DEFAULT_RUNTIME } from '../../../src/measurement/runtime-settings.js';
import { loadModel } from '../../../src/registry/load-model.js';
import { openMemoryStore } from '../../../src/store/memory/open.js';
import { agentForSuite } from '../../agent/support/running-agent.js';
import { chain, FOUR_LAYERS } from '../../cli/support/tiny-models.js';

describe('a load that is interrupted', () => {
  const agent = agentForSuite();

  test('while an agent opens a model keeps the trials that were done', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'load-'));
    t.after(() => rm(folder, { recursive: true }));
    const path = join(folder, 'net.onnx');
    await writeFile(path, chain(FOUR_LAYERS));
    const stop = new AbortController();
    const { client } = agent();
    let served = 0;
    const interrupted: typeof client = {
      ...client,
      reaches: (...needed) => {
        // Without an ability, they are counted only.
        if (needed.length > 0 && ++served === 2) stop.abort();
        return client.reaches?.(...needed) ?? [];
      },
    };
    const settings = settingsSchema.parse({ scenario: 'clients', clients: [1], batches: [1, 2], queries: 5 });
    const load = { settings, threads: 1, runtime: DEFAULT_RUNTIME, loadedBatch: 1 };
    const context = {
      agent: interrupted,
      store: await openMemoryStore(),
      signal: stop.signal,
      onEvent: () => undefined,
    };
    const { result, partial } = await runLoad([await loadModel(path, { batch: 1 })], load, context);
    assert.deepEqual(
      result.rows.map(({ samples, measured }) => [samples, measured?.ended]),
      [[[1], 'complete']],
    );
    assert.equal(partial, true);
  });
});
