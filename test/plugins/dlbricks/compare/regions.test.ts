import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findRegions } from '../../../../plugins/dlbricks/compare/regions.js';

/** A chain of kernels, each with a letter for its signature and the author's values that it computes. */
function cut(...kernels: readonly (readonly [letter: string, value: string])[]) {
  const letters = [...new Set(kernels.map(([letter]) => letter))];
  const bricks = letters.map((letter) => ({ signature: letter, operators: [letter] }));
  const sequences = kernels.map(([letter]) => letters.indexOf(letter));
  return {
    recipe: {
      name: 'net',
      layers: kernels.length,
      bricks,
      sequences,
      edges: sequences.slice(1).map((_, index): [number, number] => [index, index + 1]),
    },
    computes: kernels.map(([, value]) => value.split(' ').filter((name) => name !== '')),
  };
}

const named = (sides: readonly [ReturnType<typeof cut>, ReturnType<typeof cut>]) => {
  return findRegions(sides).map(([first, second]) => [
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

  test('include changes of layout, which no author named, and what is fused with a kernel of another name', () => {
    const plain = cut(['pool', 'p'], ['out', 'p'], ['norm', 'n'], ['relu', 'r'], ['in', ''], ['conv', 'c']);
    const blocked = cut(['pool', 'p'], ['fused', 'n'], ['conv', 'c']);
    const [region, ...others] = named([plain, blocked]);
    assert.deepEqual(others, []);
    assert.deepEqual([...(region?.[0] ?? [])].sort(), ['in', 'norm', 'out', 'relu']);
    assert.deepEqual(region?.[1], ['fused']);
  });

  test('are not known without the names of values', () => {
    const { recipe } = cut(['a', 'v']);
    assert.deepEqual(findRegions([{ recipe }, cut(['b', 'v'])]), []);
  });
});
