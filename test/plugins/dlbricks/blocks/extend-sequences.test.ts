import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { extendSequences, type Sequences } from '../../../../plugins/dlbricks/blocks/shorten-model.js';

/** A graph whose sequences stand one after another: each block is `a b`, and `b` reads the first sequence as well. */
function graphWith(blocks: number, { first = 'start', last = 'end' } = {}): Sequences {
  const sequences = [first, ...Array.from({ length: blocks }, () => ['a', 'b']).flat(), last];
  const edges = sequences.flatMap((name, to): (readonly [number, number])[] => {
    if (to === 0) return [];
    return name === 'b'
      ? [
          [to - 1, to],
          [0, to],
        ]
      : [[to - 1, to]];
  });
  return { sequences, edges };
}

function inOrder({ sequences, edges }: Sequences) {
  return { sequences, edges: [...edges].sort(([a, b], [c, d]) => b - d || a - c) };
}

describe('sequences of a graph with two and with three blocks', () => {
  test('give the sequences and edges of a graph with any number of blocks', () => {
    const extended = extendSequences(graphWith(2).sequences, graphWith(3), 7);
    assert.ok(extended.kind === 'extended');
    assert.deepEqual(inOrder(extended.sequences), inOrder(graphWith(7)));
  });

  test('give no result if a third block changes others, adds nothing, or has other kernels than the second', () => {
    const reasonOf = (two: readonly string[], three: readonly string[]): string => {
      const extended = extendSequences(two, { sequences: three, edges: [] }, 9);
      return extended.kind === 'different' ? extended.reason : '';
    };
    const { sequences: two } = graphWith(2);
    assert.match(
      reasonOf(two, graphWith(3, { last: 'another end' }).sequences),
      /a third block changes kernels outside of the block/,
    );
    assert.match(reasonOf(two, two), /adds no kernels/);
    assert.match(reasonOf(two, ['start', 'a', 'b', 'a', 'b', 'a', 'c', 'end']), /other kernels than the second/);
  });
});
