import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { regionsOf } from '../../../../plugins/dlbricks/compare/regions.js';

/** Kernels in their order, each with a letter for its signature and the value that it produces. */
function cut(...kernels: readonly (readonly [letter: string, value: string])[]) {
  const letters = [...new Set(kernels.map(([letter]) => letter))];
  const bricks = letters.map((letter) => ({ signature: letter, operators: [letter] }));
  const sequences = kernels.map(([letter]) => letters.indexOf(letter));
  return {
    recipe: { name: 'net', layers: kernels.length, bricks, sequences, edges: [] },
    produces: kernels.map(([, value]) => [value]),
  };
}

const named = (sides: readonly [ReturnType<typeof cut>, ReturnType<typeof cut>]) => {
  return regionsOf(sides).map(([first, second]) => [
    first.map((brick) => sides[0].recipe.bricks[brick]?.signature),
    second.map((brick) => sides[1].recipe.bricks[brick]?.signature),
  ]);
};

describe('kernels between the same values', () => {
  test('are found where one side fuses what the other does in several steps', () => {
    const steps = cut(['conv', 'a'], ['relu', 'b'], ['pool', 'c']);
    const fused = cut(['conv+relu', 'b'], ['pool', 'c']);
    assert.deepEqual(named([steps, fused]), [[['conv', 'relu'], ['conv+relu']]]);
    assert.deepEqual(named([fused, steps]), [[['conv+relu'], ['conv', 'relu']]]);
  });

  test('are none where both have the same kernels, or one has a further one', () => {
    const plain = cut(['conv', 'a'], ['conv', 'b']);
    assert.deepEqual(named([plain, plain]), []);
    assert.deepEqual(named([plain, cut(['reorder', 'r'], ['conv', 'a'], ['conv', 'b'])]), []);
  });

  test('leave out the kernels that both have, as often as both have them', () => {
    const one = cut(['x', 'p'], ['x', 'q'], ['y', 'end']);
    const other = cut(['x', 'r'], ['z', 'end']);
    assert.deepEqual(named([one, other]), [[['x', 'y'], ['z']]]);
  });

  test('at the end of the graph are compared too, without a common value', () => {
    assert.deepEqual(named([cut(['a', 'v'], ['b', 'one']), cut(['a', 'v'], ['c', 'two'])]), [[['b'], ['c']]]);
  });

  test('are not known without the names of values', () => {
    const { recipe } = cut(['a', 'v']);
    assert.deepEqual(regionsOf([{ recipe }, cut(['b', 'v'])]), []);
  });
});
