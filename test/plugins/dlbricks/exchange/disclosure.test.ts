import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ModelRecipe } from '../../../../plugins/dlbricks/bricks/recipe.js';
import { computeDisclosure } from '../../../../plugins/dlbricks/exchange/disclosure.js';
import { signatureOf } from '../../../store/sample-measurement.js';

/** A model with bricks of these numbers of kernels, in the order of `sequences`. */
function modelRecipe(kernels: Readonly<Record<number, number>>, sequences: readonly number[]): ModelRecipe {
  const bricks = Object.keys(kernels).map(Number);
  return {
    name: 'model',
    layers: sequences.length,
    bricks: bricks.map((brick) => ({
      signature: signatureOf(brick),
      operators: Array.from({ length: kernels[brick] ?? 0 }, () => 'Conv'),
    })),
    sequences: sequences.map((brick) => bricks.indexOf(brick)),
    edges: [],
  };
}

describe('the disclosure of a suite', () => {
  test('has the largest brick, and the share of kernels that are shown in their order', () => {
    const disclosure = computeDisclosure([modelRecipe({ 1: 1, 2: 3 }, [1, 2, 2, 1, 1])], []);
    assert.equal(disclosure.largestBrick, 3);
    // 6 of 9.
    assert.equal(disclosure.inLargerBricks, 6 / 9);
  });

  test('shows no order if every brick is one kernel', () => {
    assert.equal(computeDisclosure([modelRecipe({ 1: 1, 2: 1 }, [1, 2])], []).inLargerBricks, 0);
  });

  test('counts bricks that the models have and no decoy has, each brick once', () => {
    const models = [modelRecipe({ 1: 1, 2: 1 }, [1, 2]), modelRecipe({ 2: 1, 3: 1 }, [2, 3])];
    const { bricks, inNoDecoy } = computeDisclosure(models, [modelRecipe({ 2: 1, 4: 1 }, [4, 2])]);
    assert.deepEqual([bricks, inNoDecoy], [3, 2]);
  });
});
