import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CutSettings } from '../../../../plugins/dlbricks/bricks/decompose.js';
import { prepareAll, prepareModel } from '../../../../plugins/dlbricks/bricks/prepare-model.js';
import { createFakeAgent } from '../../../support/fake-agent.js';
import { SYSTEM } from '../../../store/sample-measurement.js';
import { loadedChain } from '../support/chain-model.js';

const SETTINGS: CutSettings = { cut: 'layer', granularity: undefined, runOptions: SYSTEM.runOptions };

/**
 * The most models that are prepared at once on a machine with this many cores, and their names in the order of the
 * results.
 */
async function prepareOn(cores: number, names: readonly string[]) {
  const fake = createFakeAgent({ latencyOf: () => 1 });
  const agent = { ...fake, description: { ...fake.description, cores } };
  let now = 0;
  let most = 0;
  const done: number[] = [];
  const prepared = await prepareAll(
    names.map((name) => loadedChain(name, 'Relu')),
    SETTINGS,
    { agent, signal: new AbortController().signal },
    async (...args) => {
      most = Math.max(most, ++now);
      await new Promise(setImmediate);
      now--;
      return prepareModel(...args);
    },
    (_model, count) => void done.push(count),
  );
  return { most, done, names: prepared.map(({ recipe }) => recipe.name) };
}

const NAMES = Array.from({ length: 12 }, (_, index) => `model${index}`);

test('models are prepared on all cores, and the results are in their order', async () => {
  const { most, names, done } = await prepareOn(3, NAMES);
  assert.deepEqual([most, names], [3, NAMES]);
  assert.deepEqual([done.slice(0, 3), done.length], [[0, 0, 0], 12]);
});

// MAX_CONCURRENT: an agent's own limit of graphs that it optimizes at once.
test('at most eight are prepared at once, which is the limit of an agent', async () => {
  assert.equal((await prepareOn(64, NAMES)).most, 8);
});
