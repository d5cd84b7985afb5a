import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type CutSettings, prepareOrRefuse } from '../../../../plugins/dlbricks/bricks/prepare-model.js';
import { createFakeAgent } from '../../../../src/agent/fake-agent.js';
import { PlatformError } from '../../../../src/base/errors.js';
import { SYSTEM } from '../../../store/sample-measurement.js';
import { loadedChain } from '../support/chain-model.js';
import { refused } from '../support/refused.js';

const SETTINGS: CutSettings = { cut: 'kernel', granularity: undefined, runOptions: SYSTEM.runOptions };

function preparing(optimizedOf: () => never) {
  const agent = createFakeAgent({ latencyOf: () => 1, optimizedOf });
  return prepareOrRefuse(loadedChain('model', 'Relu', 'Neg'), SETTINGS, agent, new AbortController().signal);
}

describe('a model whose graph the runtime refuses', () => {
  test('has its layers and the reason, and no bricks', async () => {
    const { recipe, bricks, refusal } = await preparing(() => {
      throw new PlatformError('unsupported', 'no kernel for Neg');
    });
    assert.deepEqual(recipe, { name: 'model', layers: 2, bricks: [], sequences: [], edges: [] });
    assert.deepEqual([bricks, refusal], [[], 'no kernel for Neg']);
  });

  test('is not one where the agent is gone', async () => {
    await refused(
      preparing(() => {
        throw new PlatformError('unavailable', 'the agent does not answer');
      }),
      'unavailable',
    );
  });
});
