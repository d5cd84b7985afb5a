import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { uniqueBricks } from '../../../../plugins/dlbricks/bricks/unique-bricks.js';
import { preparedChain } from '../support/chain-model.js';

const one = preparedChain('one', 'Relu', 'Neg', 'Relu');
const two = preparedChain('two', 'Neg', 'Abs');

describe('the unique bricks', () => {
  test('of a model are its different sequences, and the recipe says where each is', () => {
    const { recipe, bricks, roughMs } = one;
    assert.deepEqual(
      bricks.map(({ operators }) => operators),
      [['Relu'], ['Neg']],
    );
    assert.equal(roughMs.length, 2);
    assert.deepEqual([recipe.name, recipe.layers, recipe.sequences], ['one', 3, [0, 1, 0]]);
    assert.deepEqual(recipe.edges, [
      [0, 1],
      [1, 2],
    ]);
  });

  test('of several models are listed once each, in the order of the models', () => {
    assert.deepEqual(
      uniqueBricks([one, two]).map(({ operators }) => operators.join()),
      ['Relu', 'Neg', 'Abs'],
    );
    assert.deepEqual(uniqueBricks([]), []);
  });
});
