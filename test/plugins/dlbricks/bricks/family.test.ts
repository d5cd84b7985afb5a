import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CutSettings } from '../../../../plugins/dlbricks/bricks/decompose.js';
import { prepareModel } from '../../../../plugins/dlbricks/bricks/prepare-model.js';
import { buildRunOptions } from '../../../../src/measurement/system.js';
import { loadModel } from '../../../../src/registry/load-model.js';
import { agentForSuite } from '../../../agent/support/running-agent.js';

const SETTINGS: CutSettings = { cut: 'kernel', granularity: undefined, runOptions: buildRunOptions(1) };

const agent = agentForSuite();

// The first example of README.md.
test('ResNet-34 has only kernels that ResNet-18 has too', { timeout: 300_000 }, async () => {
  const { signal } = new AbortController();
  const prepared = async (name: string) => {
    const loaded = await loadModel(`zoo:${name}`, { batch: 1 });
    return prepareModel(loaded, SETTINGS, agent().client, signal);
  };
  const first = await prepared('resnet18');
  const second = await prepared('resnet34');
  const known = new Set(first.bricks.map(({ signature }) => signature));
  assert.deepEqual(
    second.bricks.filter(({ signature }) => !known.has(signature)).map(({ operators }) => operators),
    [],
  );
  assert.ok(second.recipe.sequences.length > first.recipe.sequences.length);
});
