import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from '../../../support/property.js';
import type { Sequence } from '../../../../plugins/dlbricks/cut/layer-cut.js';
import { cutAtFewestValues } from '../../../../plugins/dlbricks/cut/kernel-cut.js';
import type { LayerGraph } from '../../../../src/onnx/layers/layer-graph.js';
import { generatedModels, layerGraphOf } from '../support/generated-graph.js';
import { renamed } from '../support/rename-model.js';
import { written } from './written.js';

const granularities = fc.oneof(fc.integer({ min: 1, max: 12 }), fc.constantFrom(100, 1_000_000, 2 ** 53 - 1));

/** One kernel: the names of the values that it reads, and of the value that it makes. */
interface Kernel {
  readonly reads: readonly string[];
  readonly makes: string;
}

/** A kernel that reads one value and makes one value of this many floats takes about 0.4 ms by {@link roughMs}. */
const LARGE = 1_000_000;

function kernelGraph(kernels: readonly Kernel[], inputs: readonly string[], size = LARGE): LayerGraph {
  const layers = kernels.map(({ reads, makes }) => {
    return { name: '', opType: 'Sum', domain: '', inputs: reads, outputs: [makes], attributes: [] };
  });
  const names = [...inputs, ...kernels.map(({ makes }) => makes)];
  return {
    source: 'hand-written',
    opsets: new Map([['', 17]]),
    layers,
    inputs,
    outputs: names.slice(-1),
    types: new Map(names.map((name) => [name, { elementType: 'float32', dims: [size] }])),
    constants: new Map(),
    opaque: new Set(),
  };
}

/** Residual blocks: a chain of three kernels, then one that adds the block's input. Each block reads `also` as well. */
function residualBlocks(count: number, also: readonly string[] = [], size = LARGE): LayerGraph {
  let x = 'x';
  const kernels = Array.from({ length: count }, (_, block): readonly Kernel[] => {
    const [a, b, c, sum] = ['a', 'b', 'c', 'sum'].map((name) => `${name}${block}`) as [string, string, string, string];
    const made = [
      { reads: [x, ...also], makes: a },
      { reads: [a], makes: b },
      { reads: [b], makes: c },
      { reads: [c, x], makes: sum },
    ];
    x = sum;
    return made;
  });
  return kernelGraph(kernels.flat(), ['x', ...also], size);
}

function assertCoversInOrder(sequences: readonly Sequence[], kernels: number, granularity: number): void {
  let next = 0;
  for (const { first, last } of sequences) {
    assert.equal(first, next);
    assert.ok(last >= first && last - first < granularity, written([{ first, last }]));
    next = last + 1;
  }
  assert.equal(next, kernels);
}

describe('cutting kernels', () => {
  test('puts each into one sequence, in order, none longer than the granularity', () => {
    fc.assert(
      fc.property(generatedModels({ maxSteps: 25 }), granularities, (generated, granularity) => {
        const graph = layerGraphOf(generated);
        assertCoversInOrder(cutAtFewestValues(graph, granularity), graph.layers.length, granularity);
      }),
    );
  });

  test('does so for kernels of any size', () => {
    const sizes = fc.constantFrom(1, 10_000, LARGE, 10 * LARGE);
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 12 }), sizes, granularities, (blocks, size, granularity) => {
        const sequences = cutAtFewestValues(residualBlocks(blocks, [], size), granularity);
        assertCoversInOrder(sequences, 4 * blocks, granularity);
      }),
    );
  });

  test('one kernel each at granularity 1', () => {
    assert.equal(written(cutAtFewestValues(residualBlocks(2), 1)), '0 1 2 3 4 5 6 7');
  });

  test('does not depend on names', () => {
    fc.assert(
      fc.property(generatedModels({ maxSteps: 25 }), granularities, (generated, granularity) => {
        const before = cutAtFewestValues(layerGraphOf(generated), granularity);
        const after = cutAtFewestValues(layerGraphOf(renamed(generated)), granularity);
        assert.deepEqual(after, before);
      }),
    );
  });
});

describe('residual blocks', () => {
  test('are cut between blocks, where one value crosses and not two', () => {
    assert.equal(written(cutAtFewestValues(residualBlocks(4), 6)), '0-3 4-7 8-11 12-15');
  });

  test('are cut between blocks although a mask lives from the first to the last', () => {
    assert.equal(written(cutAtFewestValues(residualBlocks(4, ['mask']), 6)), '0-3 4-7 8-11 12-15');
  });

  test('are cut inside a block if a whole block is longer than allowed', () => {
    assertCoversInOrder(cutAtFewestValues(residualBlocks(4), 3), 16, 3);
  });

  test('that take almost no time become one brick', () => {
    assert.equal(written(cutAtFewestValues(residualBlocks(4, [], 1), 100)), '0-15');
  });

  test('with large values become one brick each', () => {
    assert.equal(written(cutAtFewestValues(residualBlocks(3, [], 3 * LARGE), 100)), '0-3 4-7 8-11');
  });
});

// MIN_ROUGH_MS is 1: three kernels of 0.402 ms each exceed it, and two do not.
test('a brick ends as soon as it takes a rough millisecond, if every place is equally good', () => {
  const read = (index: number): string => (index === 0 ? 'x' : `${index - 1}`);
  const chain = Array.from({ length: 9 }, (_, index) => ({ reads: [read(index)], makes: `${index}` }));
  assert.equal(written(cutAtFewestValues(kernelGraph(chain, ['x']), 100)), '0-2 3-5 6-8');
});

test('constants and weights do not count as crossing values', () => {
  const { constants, types, ...rest } = residualBlocks(3, ['weight']);
  const weight = {
    elementType: 'float32',
    dims: [4],
    data: { kind: 'fill', fill: { low: -1, high: 1, seed: 1 } },
  } as const;
  const graph = { ...rest, inputs: ['x'], types, constants: new Map([...constants, ['weight', weight]]) };
  assert.equal(written(cutAtFewestValues(graph, 6)), '0-3 4-7 8-11');
});

test('values that are known before the graph runs do not count as crossing', () => {
  // Two blocks of four kernels. The second kernel of each makes a known shape, which the last kernel of the graph
  // reads.
  const known = ['shape0', 'shape1'];
  const block = (at: number, reads: string): readonly Kernel[] => [
    { reads: [reads], makes: `a${at}` },
    { reads: [`a${at}`], makes: `shape${at}` },
    { reads: [`a${at}`, `a${at}`], makes: `b${at}` },
    { reads: [`b${at}`], makes: `c${at}` },
  ];
  const kernels = [...block(0, 'x'), ...block(1, 'c0'), { reads: ['c1', ...known], makes: 'y' }];
  const graph = kernelGraph(kernels, ['x'], 10 * LARGE);
  const fill = { low: 0, high: 1, seed: 1 };
  const constant = { elementType: 'int64', dims: [2], data: { kind: 'fill', fill } } as const;
  const cutWith = (constants: LayerGraph['constants']): string => {
    return written(cutAtFewestValues({ ...graph, constants }, 4));
  };
  assert.equal(cutWith(new Map(known.map((name) => [name, constant]))), '0 1 2 3 4 5 6 7 8');
  assert.equal(cutWith(new Map()), '0 1 2 3 4 5-8');
});

describe('graphs of 50000 kernels are cut in linear time', () => {
  const count = 50_000;
  const indices = Array.from({ length: count }, (_, index) => index);
  const read = (index: number): string => (index < 0 ? 'x' : `${index}`);
  const chain = indices.map((index) => ({ reads: [read(index - 1)], makes: `${index}` }));
  // Each value stays alive to the end, so that the best place is always the next one.
  const widening = indices.map((index) => ({ reads: [read(index - 1), 'x'], makes: `${index}` }));
  const narrowing = indices.map((index) => ({ reads: [`in${index}`], makes: `${index}` }));
  const shapes: Readonly<Record<string, LayerGraph>> = {
    'a chain of slow kernels': kernelGraph(chain, ['x'], 10 * LARGE),
    'a chain of fast kernels': kernelGraph(chain, ['x'], 1),
    'kernels that all read the input': kernelGraph(widening, ['x'], 10 * LARGE),
    'kernels that use up inputs': kernelGraph(
      narrowing,
      indices.map((index) => `in${index}`),
      10 * LARGE,
    ),
  };
  for (const [name, graph] of Object.entries(shapes)) {
    for (const granularity of [1, 32, count / 2, 1_000_000]) {
      test(`${name}, at granularity ${granularity}`, { timeout: 60_000 }, () => {
        assertCoversInOrder(cutAtFewestValues(graph, granularity), count, granularity);
      });
    }
  }
});
