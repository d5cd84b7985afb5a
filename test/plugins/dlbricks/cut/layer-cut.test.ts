import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from '../../../support/property.js';
import { type Edge, findEdges, findModelSubgraphs, type Sequence } from '../../../../plugins/dlbricks/cut/layer-cut.js';
import type { LayerGraph } from '../../../../src/onnx/layers/layer-graph.js';
import { readNames } from '../../../../src/onnx/model/subgraphs.js';
import { generatedModels, layerGraphOf } from '../support/generated-graph.js';
import { renamed } from '../support/rename-model.js';
import { written } from './written.js';

const granularities = fc.oneof(fc.integer({ min: 1, max: 8 }), fc.constantFrom(100, 1_000_000, 2 ** 31, 2 ** 53 - 1));

/** Layers that add up their inputs: a layer's index, or 'in' for the model's input. */
function layersReading(...reads: readonly (readonly (number | 'in')[])[]): LayerGraph {
  const nameOf = (read: number | 'in'): string => (read === 'in' ? 'in' : `made ${read}`);
  const layers = reads.map((inputs, index) => ({
    name: '',
    opType: 'Sum',
    domain: '',
    inputs: inputs.map(nameOf),
    outputs: [nameOf(index)],
    attributes: [],
  }));
  const names = ['in', ...layers.flatMap(({ outputs }) => outputs)];
  return {
    source: 'hand-written',
    opsets: new Map([['', 17]]),
    layers,
    inputs: ['in'],
    outputs: names.slice(-1),
    types: new Map(names.map((name) => [name, { elementType: 'float32', dims: [1] }])),
    constants: new Map(),
    opaque: new Set(),
  };
}

/** For each layer the layers whose outputs it reads. */
function dependencies({ layers }: LayerGraph): readonly (readonly number[])[] {
  return layers.map((layer) => {
    const read = new Set(readNames(layer));
    return layers.flatMap(({ outputs }, index) => (outputs.some((name) => read.has(name)) ? [index] : []));
  });
}

/** Whether the layers [first, last] are connected by the values that they read from each other, in either direction. */
function isConnected(needs: readonly (readonly number[])[], { first, last }: Sequence): boolean {
  const reached = new Set([first]);
  for (const layer of reached) {
    for (let other = first; other <= last; other++) {
      if (needs[layer]?.includes(other) || needs[other]?.includes(layer)) reached.add(other);
    }
  }
  return reached.size === last - first + 1;
}

/** Algorithms 1 and 2 of the paper, word by word. */
function asThePaperSays(graph: LayerGraph, granularity: number): readonly Sequence[] {
  const needs = dependencies(graph);
  const sequences: Sequence[] = [];
  for (let begin = 0; begin < graph.layers.length;) {
    const window = { first: begin, last: Math.min(begin + granularity, graph.layers.length) - 1 };
    const sequence = isConnected(needs, window) ? window : { first: begin, last: begin };
    sequences.push(sequence);
    begin = sequence.last + 1;
  }
  return sequences;
}

describe('decomposing', () => {
  const property = (
    name: string,
    check: (graph: LayerGraph, granularity: number, sequences: readonly Sequence[], edges: readonly Edge[]) => void,
  ): void => {
    test(name, () => {
      fc.assert(
        fc.property(generatedModels({ maxSteps: 25 }), granularities, (generated, granularity) => {
          const graph = layerGraphOf(generated);
          const sequences = findModelSubgraphs(graph, granularity);
          check(graph, granularity, sequences, findEdges(graph, sequences));
        }),
      );
    });
  };

  property('puts every layer into one sequence, in order', ({ layers }, _granularity, sequences) => {
    const inOrder = sequences.flatMap(({ first, last }) =>
      Array.from({ length: last - first + 1 }, (_, i) => first + i),
    );
    assert.deepEqual(inOrder, [...layers.keys()]);
  });

  property('makes no sequence longer than the granularity', (_graph, granularity, sequences) => {
    for (const { first, last } of sequences) assert.ok(last - first + 1 <= granularity);
  });

  property('makes connected sequences', (graph, _granularity, sequences) => {
    const needs = dependencies(graph);
    for (const sequence of sequences) assert.ok(isConnected(needs, sequence), written([sequence]));
  });

  property('takes the longest window that the paper would take', (graph, granularity, sequences) => {
    assert.equal(written(sequences), written(asThePaperSays(graph, granularity)));
  });

  property(
    'joins sequences by an edge where one reads what the other makes',
    (graph, _granularity, sequences, edges) => {
      const sequenceOf = (layer: number): number => sequences.findIndex(({ last }) => layer <= last);
      const expected = new Set<string>();
      for (const [layer, needs] of dependencies(graph).entries()) {
        for (const needed of needs) {
          if (sequenceOf(needed) !== sequenceOf(layer)) expected.add(`${sequenceOf(needed)} ${sequenceOf(layer)}`);
        }
      }
      assert.deepEqual(edges.map((edge) => edge.join(' ')).sort(), [...expected].sort());
      for (const [from, to] of edges) assert.ok(from < to);
    },
  );

  test('does not depend on names', () => {
    fc.assert(
      fc.property(generatedModels({ maxSteps: 25 }), granularities, (generated, granularity) => {
        const before = findModelSubgraphs(layerGraphOf(generated), granularity);
        const after = findModelSubgraphs(layerGraphOf(renamed(generated)), granularity);
        assert.deepEqual(after, before);
      }),
    );
  });
});

describe('sequences of hand-written graphs', () => {
  const chain = layersReading(['in'], [0], [1], [2], [3], [4], [5]);
  // Two interleaved chains that meet in the last layer.
  const towers = layersReading(['in'], ['in'], [0], [1], [2], [3], [4, 5]);

  test('one layer each at granularity 1', () => {
    assert.equal(written(findModelSubgraphs(towers, 1)), '0 1 2 3 4 5 6');
  });

  test('a chain is cut into pieces of the granularity, and the last piece is the rest', () => {
    assert.equal(written(findModelSubgraphs(chain, 3)), '0-2 3-5 6');
  });

  test('a granularity beyond the length takes the whole chain', () => {
    assert.equal(written(findModelSubgraphs(chain, 1_000_000)), '0-6');
  });

  test('if a window is not connected, its first layer becomes a sequence, and the window moves on by one', () => {
    // 0 and 1 are not connected, and neither are 2 and 3. The towers meet in 4-6.
    assert.equal(written(findModelSubgraphs(towers, 3)), '0 1 2 3 4-6');
  });

  test('layers that only a later layer connects are one sequence if that layer is in the window', () => {
    assert.equal(written(findModelSubgraphs(towers, 7)), '0-6');
    assert.equal(written(findModelSubgraphs(towers, 6)), '0 1-6');
  });

  test('the shorter window at the end must be connected as well', () => {
    const apart = layersReading(['in'], [0], [1], ['in'], [0]);
    assert.equal(written(findModelSubgraphs(apart, 3)), '0-2 3 4');
  });

  test('layers that read the same value but not each other are not connected', () => {
    assert.equal(written(findModelSubgraphs(layersReading(['in'], ['in'], ['in']), 3)), '0 1 2');
  });

  test('an edge is listed once, for any number of values along it', () => {
    const graph = layersReading(['in'], [0], [0, 1], [0, 1, 2], [2]);
    assert.deepEqual(findEdges(graph, findModelSubgraphs(graph, 2)), [
      [0, 1],
      [1, 2],
    ]);
  });

  test('a model without layers has no sequences', () => {
    assert.deepEqual(findModelSubgraphs(layersReading(), 4), []);
  });
});

describe('graphs of 50000 layers are decomposed in linear time', () => {
  const count = 50_000;
  const indices = Array.from({ length: count }, (_, i) => i);
  const shapes: Readonly<Record<string, LayerGraph>> = {
    'a chain': layersReading(...indices.map((i) => [i === 0 ? ('in' as const) : i - 1])),
    'two chains that never meet': layersReading(...indices.map((i) => [i < 2 ? ('in' as const) : i - 2])),
    'layers that all read the input': layersReading(...indices.map(() => ['in' as const])),
    'a comb': layersReading(...indices.map((i) => (i < 2 || i % 2 === 1 ? (['in'] as const) : [i - 2, i - 1, 0]))),
  };
  for (const [name, graph] of Object.entries(shapes)) {
    for (const granularity of [1, 7, count / 2, 1_000_000]) {
      test(`${name}, at granularity ${granularity}`, () => {
        const sequences = findModelSubgraphs(graph, granularity);
        assert.equal(sequences.at(-1)?.last, count - 1);
      });
    }
  }
});
