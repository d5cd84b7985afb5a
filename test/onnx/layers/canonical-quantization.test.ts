import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { withCanonicalQuantization } from '../../../src/onnx/layers/canonical-quantization.js';
import { fillRange, typedGraph } from '../../../src/onnx/values/fill-range.js';
import type { ElementType } from '../../../src/onnx/model/element-type.js';
import type { Model } from '../../../src/onnx/model/model.js';
import { parseModel } from '../../../src/onnx/read/read-model.js';
import { modelFromBenchmark, weightlessBenchmark } from '../../../src/measurement/weightless.js';
import { floats, graph, graphAttribute, model, node, tensor, value } from '../protos.js';
import { quantizedConv, type QuantizedConvOptions } from '../quantized-conv.js';

const canonical = (options?: QuantizedConvOptions): Model => {
  return withCanonicalQuantization(parseModel(quantizedConv(options), 'model'));
};

/** The bytes of an initializer's values. */
function bytesOf({ graph: { initializers } }: Model, name: string): readonly number[] {
  const tensor = initializers.get(name);
  assert.ok(tensor?.data.kind === 'inline', name);
  return [...tensor.data.bytes];
}

/** The made-up value of each scale, by name. */
function scalesOf(given: Model): ReadonlyMap<string, number> {
  const { inputs } = weightlessBenchmark(given);
  const scales = inputs.filter(({ name }) => name.endsWith('scale'));
  return new Map(
    scales.map(({ name, fill: { low, high } }) => {
      assert.equal(low, high, `${name} is not one value`);
      return [name, low];
    }),
  );
}

describe('scales', () => {
  test('of equal value become one constant, regardless of their names', () => {
    const { nodes, initializers } = canonical().graph;
    assert.ok(initializers.has('y_scale') && !initializers.has('p_scale'));
    assert.deepEqual(
      nodes.filter(({ opType }) => opType === 'QuantizeLinear').map(({ inputs }) => inputs[1]),
      ['x_scale', 'y_scale', 'y_scale'],
    );
  });

  test('that a branch reads stay as they are', () => {
    const branch = graph({ node: [node('DequantizeLinear', ['q', 's2'], ['out'])], output: [value('out')] });
    const bytes = model({
      input: [value('flag', [], 'bool'), value('q', [4], 'int8')],
      node: [
        node('DequantizeLinear', ['q', 's1'], ['d']),
        node('If', ['flag'], ['y'], [graphAttribute('then_branch', branch), graphAttribute('else_branch', branch)]),
      ],
      output: [value('d'), value('y')],
      initializer: [floats('s1', [0.25], []), floats('s2', [0.25], [])],
    });
    assert.deepEqual([...withCanonicalQuantization(parseModel(bytes, 'm')).graph.initializers.keys()], ['s1', 's2']);
  });

  test('that another operator reads as a number stay as well', () => {
    const bytes = model({
      input: [value('q', [4], 'int8')],
      node: [
        node('DequantizeLinear', ['q', 's1'], ['d1']),
        node('DequantizeLinear', ['q', 's2'], ['d2']),
        node('DequantizeLinear', ['q', 's3'], ['d3']),
        node('Mul', ['d3', 's3'], ['y']),
      ],
      output: [value('d1'), value('d2'), value('y')],
      initializer: ['s1', 's2', 's3'].map((name) => floats(name, [0.25], [])),
    });
    const { nodes, initializers } = withCanonicalQuantization(parseModel(bytes, 'm')).graph;
    assert.deepEqual([...initializers.keys()], ['s1', 's3']);
    assert.deepEqual(
      nodes.map(({ inputs }) => inputs[1]),
      ['s1', 's1', 's1', 's3'],
    );
  });

  test('are made up so that the scale of a bias is the product of the scales that its operator multiplies', () => {
    const scales = scalesOf(parseModel(quantizedConv(), 'model'));
    const [x = NaN, w = NaN, b] = ['x_scale', 'w_scale', 'b_scale'].map((name) => scales.get(name));
    assert.equal(b, x * w);
  });

  test('are made up differently for different constants', () => {
    const scales = scalesOf(parseModel(quantizedConv(), 'model'));
    assert.equal(new Set(scales.values()).size, 4);
  });

  test('of the operators of com.microsoft are positive', () => {
    const inputs = ['a', 'as', 'az', 'b', 'bs', 'bz', 'ys', 'yz'];
    const elementTypeOf = (name: string) => (name.endsWith('s') ? 'float32' : 'uint8');
    const bytes = model(
      {
        input: inputs.map((name) => value(name, name.length > 1 ? [] : [4], elementTypeOf(name))),
        node: [node('QLinearAdd', inputs, ['y'], [], { domain: 'com.microsoft' })],
        output: [value('y')],
      },
      { opsetImport: ['', 'com.microsoft'].map((domain) => ({ domain, version: domain === '' ? 17n : 1n })) },
    );
    const typed = typedGraph(parseModel(bytes, 'model').graph);
    for (const name of ['as', 'bs', 'ys']) {
      assert.ok(fillRange(typed, name, { elementType: 'float32', dims: [] }).low > 0, name);
    }
  });
});

describe('zero points', () => {
  test('become the representative of their class: the least value, the middle, or any other', () => {
    const classOf = (zeroPoint: number): readonly number[] => bytesOf(canonical({ zeroPoint }), 'y_zero');
    assert.deepEqual([0, 128, 7, 113].map(classOf), [[0], [128], [160], [160]]);
  });

  test('are written into new memory, also if the model is in a Buffer', () => {
    // Small Buffers share one block of memory. The model's zero point is in such a Buffer.
    const others = Buffer.from('the memory of others, which keeps what it has');
    const before = others.toString();
    const file = Buffer.from(quantizedConv({ zeroPoint: 7 }));
    const read = parseModel(Buffer.from(file), 'model');
    const first = bytesOf(withCanonicalQuantization(read), 'y_zero');
    assert.deepEqual(first, bytesOf(canonical({ zeroPoint: 7 }), 'y_zero'));
    assert.deepEqual(bytesOf(read, 'y_zero'), [7]);
    assert.equal(others.toString(), before);
  });

  test('of signed weights stay zero', () => {
    assert.deepEqual(bytesOf(canonical(), 'w_zero'), new Array(8).fill(0));
  });

  test('do not depend on the calibration, so that two calibrations give one graph', () => {
    const [one, other] = [
      { zeroPoint: 7, scale: 0.02 },
      { zeroPoint: 99, scale: 0.013 },
    ].map((options) => weightlessBenchmark(parseModel(quantizedConv(options), 'model')).signature);
    assert.equal(one, other);
  });

  const cases: readonly (readonly [what: string, ElementType, count: number, given: number[], classed: number[]])[] = [
    ['signed: zero, the least value, and any other', 'int8', 4, [0, 0x80, 7, 0xf9], [0, 0x80, 32, 32]],
    ['packed two in a byte: the middle of their type', 'uint4', 2, [0x31], [0x88]],
    ['packed four in a byte: the middle of their type', 'uint2', 4, [0x31], [0xaa]],
    ['packed and signed: zero', 'int4', 2, [0x31], [0]],
    ['floats: what they were', 'float8e4m3fn', 2, [0x31, 0x32], [0x31, 0x32]],
  ];
  for (const [what, elementType, count, given, classed] of cases) {
    test(`that are ${what}`, () => {
      const zeroPoint = tensor('z', elementType, [count], { rawData: Uint8Array.from(given) });
      const bytes = model(
        {
          input: [value('w', [2, count], elementType)],
          node: [node('DequantizeLinear', ['w', 's', 'z'], ['y'])],
          output: [value('y')],
          initializer: [floats('s', Array<number>(count).fill(0.5)), zeroPoint],
        },
        { opsetImport: [{ domain: '', version: 25n }], irVersion: 11n },
      );
      const data = { kind: 'inline', bytes: Uint8Array.from(classed) };
      const made = withCanonicalQuantization(parseModel(bytes, 'm')).graph.initializers.get('z');
      assert.deepEqual(made, { elementType, dims: [count], data });
    });
  }

  test('are the only constants that change, and a model without quantization stays as it is', () => {
    const before = parseModel(quantizedConv({ zeroPoint: 7 }), 'model');
    const after = withCanonicalQuantization(before);
    for (const [name, one] of after.graph.initializers) {
      if (!name.endsWith('_zero')) assert.equal(one, before.graph.initializers.get(name));
    }
    const plain = parseModel(
      model({ node: [node('Relu', ['x'], ['y'])], input: [value('x')], output: [value('y')] }),
      'm',
    );
    assert.equal(withCanonicalQuantization(plain), plain);
  });
});

test('a model is the same when it is made canonical twice, and when it was a benchmark in between', () => {
  const first = weightlessBenchmark(parseModel(quantizedConv({ zeroPoint: 7 }), 'model'));
  assert.equal(weightlessBenchmark(modelFromBenchmark(first, 'again')).signature, first.signature);
});
