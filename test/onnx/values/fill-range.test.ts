import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ElementType } from '../../../src/onnx/model/element-type.js';
import { type InputValues, MAX_LISTED_VALUES } from '../../../src/onnx/model/model.js';
import { fillRange, typedGraph } from '../../../src/onnx/values/fill-range.js';
import { parseModel } from '../../../src/onnx/read/read-model.js';
import { INHERITED_NAMES } from '../../base/inherited-names.js';
import { floats, graph as graphProto, graphAttribute, int, model, node, value } from '../protos.js';

type Values = Readonly<Record<string, readonly [ElementType, ...number[]]>>;

/** Ranges of a graph's inputs. */
function rangesOf(inputs: Values, nodes: Parameters<typeof node>[], rest: Parameters<typeof model>[0] = {}) {
  const opsetImport = ['', 'com.microsoft'].map((domain) => ({ domain, version: domain === '' ? 17n : 1n }));
  const graphOf: Parameters<typeof model>[0] = {
    input: Object.entries(inputs).map(([name, [elementType, ...dims]]) => value(name, dims, elementType)),
    node: nodes.map((call) => node(...call)),
    output: nodes.flatMap(([, , outputs]) => outputs).map((name) => value(name)),
    ...rest,
  };
  const { graph } = parseModel(model(graphOf, { opsetImport }), 'model');
  const typed = typedGraph(graph);
  return (name: string): InputValues => {
    const type = typed.typeOf(name);
    assert.ok(type !== undefined);
    return fillRange(typed, name, type);
  };
}

const PASSED: Parameters<typeof node>[] = [
  ['Cast', ['ids'], ['cast'], [int('to', 7)]],
  ['Unsqueeze', ['cast', 'axes'], ['listed']],
  ['Gather', ['table', 'listed'], ['y']],
];

describe('indices stay valid', () => {
  test('for a Gather, along its axis', () => {
    const inputs: Values = { table: ['float32', 10, 4], ids: ['int64', 3] };
    assert.deepEqual(rangesOf(inputs, [['Gather', ['table', 'ids'], ['y']]])('ids'), { low: 0, high: 9 });
    assert.deepEqual(rangesOf(inputs, [['Gather', ['table', 'ids'], ['y'], [int('axis', -1)]]])('ids'), {
      low: 0,
      high: 3,
    });
  });

  test('also where they reach it through a Cast and an Unsqueeze', () => {
    const inputs: Values = { table: ['float32', 30522, 8], ids: ['int32', 3], axes: ['int64', 1] };
    assert.deepEqual(rangesOf(inputs, PASSED)('ids'), { low: 0, high: 30521 });
  });

  test('inside of a branch', () => {
    const inner = graphProto({ node: [node('Gather', ['table', 'ids'], ['o'])], output: [value('o')] });
    const branches = [graphAttribute('then_branch', inner), graphAttribute('else_branch', inner)];
    const inputs: Values = { flag: ['bool'], table: ['float32', 10, 4], ids: ['int64', 3] };
    assert.deepEqual(rangesOf(inputs, [['If', ['flag'], ['y'], branches]])('ids'), { low: 0, high: 9 });
  });

  test('for operators that index several axes: the shortest axis decides', () => {
    const inputs: Values = { table: ['float32', 10, 3, 5], ids: ['int64', 2, 3], updates: ['float32', 2] };
    assert.deepEqual(rangesOf(inputs, [['ScatterND', ['table', 'ids', 'updates'], ['y']]])('ids'), { low: 0, high: 2 });
    assert.deepEqual(rangesOf(inputs, [['GatherND', ['table', 'ids'], ['y']]])('ids'), { low: 0, high: 2 });
  });

  test('for a table with one row: only index 0', () => {
    const inputs: Values = { table: ['float32', 1, 4], ids: ['int64', 3] };
    assert.deepEqual(rangesOf(inputs, [['Gather', ['table', 'ids'], ['y']]])('ids'), { low: 0, high: 0 });
  });
});

describe('values stay inside the domain of an operator', () => {
  for (const opType of ['Div', 'Mod']) {
    test(`no integer is divided by zero: ${opType}`, () => {
      const range = rangesOf({ x: ['int32', 4], by: ['int32', 4] }, [[opType, ['x', 'by'], ['y']]]);
      assert.ok(range('by').low >= 1);
    });
  }

  test('a variance and a divisor are positive', () => {
    const inputs: Values = {
      x: ['float32', 1, 4, 2],
      a: ['float32', 4],
      b: ['float32', 4],
      c: ['float32', 4],
      d: ['float32', 4],
    };
    assert.ok(rangesOf(inputs, [['BatchNormalization', ['x', 'a', 'b', 'c', 'd'], ['y']]])('d').low > 0);
    assert.ok(rangesOf(inputs, [['Div', ['x', 'a'], ['y']]])('a').low > 0);
    assert.ok(rangesOf(inputs, [['Sqrt', ['x'], ['y']]])('x').low > 0);
  });

  test('weights preserve the scale of the values: the more products are summed, the smaller the weights', () => {
    // He et al. (2015): a variance of 2 / fan-in, here of a uniform distribution.
    const bound = (fanIn: number): InputValues => ({ low: -Math.sqrt(6 / fanIn), high: Math.sqrt(6 / fanIn) });
    const x: Values = { x: ['float32', 1, 8, 6, 6] };
    assert.deepEqual(rangesOf({ ...x, w: ['float32', 16, 8, 3, 3] }, [['Conv', ['x', 'w'], ['y']]])('w'), bound(72));
    assert.deepEqual(rangesOf({ ...x, w: ['float32', 6, 5] }, [['MatMul', ['x', 'w'], ['y']]])('w'), bound(6));
    const transposed = [int('transB', 1)];
    const gemm: Values = { a: ['float32', 2, 7], w: ['float32', 3, 7] };
    assert.deepEqual(rangesOf(gemm, [['Gemm', ['a', 'w'], ['y'], transposed]])('w'), bound(7));
    const plain: Values = { a: ['float32', 2, 7], w: ['float32', 7, 3] };
    assert.deepEqual(rangesOf(plain, [['Gemm', ['a', 'w'], ['y']]])('w'), bound(7));
  });

  for (const opType of ['BatchNormalization', 'GroupNormalization', 'InstanceNormalization', 'LayerNormalization']) {
    test(`a ${opType} keeps values as they are: scales are near one, and shifts are small`, () => {
      const one: Values[string] = ['float32', 4];
      const inputs: Values = { x: ['float32', 1, 4, 2], scale: one, shift: one, mean: one, variance: one };
      const statistics = opType === 'BatchNormalization' ? ['mean', 'variance'] : [];
      const range = rangesOf(inputs, [[opType, ['x', 'scale', 'shift', ...statistics], ['y']]]);
      assert.deepEqual(range('scale'), { low: 0.9, high: 1.1 });
      assert.deepEqual(range('shift'), { low: -0.1, high: 0.1 });
    });
  }

  test('the first use that restricts the values decides', () => {
    const range = rangesOf({ x: ['float32', 4] }, [
      ['Abs', ['x'], ['a']],
      ['Log', ['x'], ['b']],
    ]);
    assert.ok(range('x').low > 0);
  });

  test('a value of unknown use is from -1 to 1, or any uint8', () => {
    assert.deepEqual(rangesOf({ x: ['float32', 4] }, [['Abs', ['x'], ['y']]])('x'), { low: -1, high: 1 });
    assert.deepEqual(rangesOf({ x: ['uint8', 4] }, [['Identity', ['x'], ['y']]])('x'), { low: 0, high: 255 });
  });

  test('a mask hides nothing', () => {
    assert.deepEqual(rangesOf({ x: ['int64', 4] }, [['Cast', ['x'], ['y']]])('x'), { low: 1, high: 1 });
    assert.deepEqual(rangesOf({ x: ['bool', 4] }, [['Not', ['x'], ['y']]])('x'), { low: 1, high: 1 });
  });

  test('a weight that only a branch reads gets its range from its use in the branch', () => {
    const inner = graphProto({ node: [node('Div', ['x', 'w'], ['o'])], output: [value('o')] });
    const branches = [graphAttribute('then_branch', inner), graphAttribute('else_branch', inner)];
    const inputs: Values = { flag: ['bool'], x: ['float32', 4] };
    const range = rangesOf(inputs, [['If', ['flag'], ['y'], branches]], { initializer: [floats('w', [1, 2, 3, 4])] });
    assert.ok(range('w').low > 0);
  });
});

describe('values fit the shapes around them', () => {
  const listOf = (inputs: Values, call: Parameters<typeof node>, name: string, output?: readonly number[]) => {
    const { low, high, list = [low] } = rangesOf(inputs, [call], { output: [value('y', output)] })(name);
    assert.deepEqual([Math.min(...list), Math.max(...list)], [low, high]);
    return list;
  };

  test('for a Reshape: those of its output, else of its input, else all elements in the first dimension', () => {
    const reshaped = (rank: number, output?: readonly number[]) => {
      const inputs: Values = { x: ['float32', 2, 6], shape: ['int64', rank] };
      return listOf(inputs, ['Reshape', ['x', 'shape'], ['y']], 'shape', output);
    };
    assert.deepEqual(
      [reshaped(2, [4, 3]), reshaped(2), reshaped(3)],
      [
        [4, 3],
        [2, 6],
        [-1, 1, 1],
      ],
    );
  });

  test('for a TopK: the size of its output, else at most that of its input', () => {
    const most = (size: number, output?: readonly number[]) => {
      return listOf({ x: ['float32', 4, size], k: ['int64', 1] }, ['TopK', ['x', 'k'], ['y', 'at']], 'k', output);
    };
    assert.deepEqual([most(9, [4, 5]), most(9), most(90)], [[5], [9], [16]]);
  });

  test('for a Pad: what its output has in addition at the end of each axis', () => {
    const inputs: Values = { x: ['float32', 2, 3], pads: ['int64', 4], axes: ['int64', 2] };
    const padded = (name: string) => listOf(inputs, ['Pad', ['x', 'pads', '', 'axes'], ['y']], name, [2, 5]);
    assert.deepEqual(
      [padded('pads'), padded('axes')],
      [
        [0, 0, 0, 2],
        [0, 1],
      ],
    );
  });

  test('for a Range: from 0 by 1', () => {
    const inputs: Values = { start: ['int64'], limit: ['int64'], delta: ['int64'] };
    const ranged = (name: string) => listOf(inputs, ['Range', ['start', 'limit', 'delta'], ['y']], name, [5]);
    assert.deepEqual([ranged('start'), ranged('delta')], [[0], [1]]);
  });

  test('for an Attention of com.microsoft: a length for each sequence, but not where the mask has two dimensions', () => {
    const mask = (...dims: readonly number[]) => {
      const inputs: Values = {
        x: ['float32', 4, 7, 8],
        w: ['float32', 8, 24],
        b: ['float32', 24],
        mask: ['int32', ...dims],
      };
      return rangesOf(inputs, [['Attention', ['x', 'w', 'b', 'mask'], ['y'], [], { domain: 'com.microsoft' }]])('mask');
    };
    assert.deepEqual(mask(4), { low: 7, high: 7 });
    assert.deepEqual(mask(8).list, [7, 7, 7, 7, 0, 0, 0, 0]);
    assert.deepEqual(mask(2, 2), { low: 1, high: 1 });
  });

  test('for a RotaryEmbedding of com.microsoft: the first position, or all of them', () => {
    const positions = (...dims: readonly number[]) => {
      const inputs: Values = { x: ['float32', 1, 4, 8], at: ['int64', ...dims] };
      return listOf(inputs, ['RotaryEmbedding', ['x', 'at'], ['y'], [], { domain: 'com.microsoft' }], 'at');
    };
    assert.deepEqual([positions(1), positions(1, 4)], [[0], [0, 1, 2, 3]]);
  });
});

for (const opType of ['Reshape', 'Unsqueeze', 'Squeeze', 'Expand', 'Tile', 'Pad', 'Slice', 'Upsample']) {
  test(`a huge shape in a file does not make a huge list: ${opType}`, () => {
    const inputs: Values = { x: ['float32', 2, 3], list: ['int64', 4_000_000_000] };
    const { list = [] } = rangesOf(inputs, [[opType, ['x', 'list'], ['y']]])('list');
    assert.ok(list.length <= MAX_LISTED_VALUES);
  });
}

test('an operator with the name of a property that every object inherits reads values of the usual range', () => {
  for (const name of INHERITED_NAMES) {
    assert.deepEqual(rangesOf({ x: ['float32', 3] }, [[name, ['x'], ['y']]])('x'), { low: -1, high: 1 });
  }
});
