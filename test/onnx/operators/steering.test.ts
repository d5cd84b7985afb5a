import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { GraphProto } from '../../../src/generated/onnx/onnx.js';
import { float16Bits } from '../../../src/onnx/model/float16.js';
import { parseModel } from '../../../src/onnx/read/read-model.js';
import { missingConstants, steeringConstants } from '../../../src/onnx/operators/steering.js';
import { INHERITED_NAMES } from '../../base/inherited-names.js';
import { floats, graph, graphAttribute, int, integers, model, node, pipeline, tensor, value } from '../protos.js';

/** Names of the constants that steer a graph from x to y. */
function steering(nodes: GraphProto['node'], initializer: GraphProto['initializer']): readonly string[] {
  const { graph: parsed } = parseModel(pipeline(nodes, { initializer }), 'model');
  return [...steeringConstants(parsed)];
}

/** Whether the constant c is kept where one operator reads it as its second input. */
function isKept(opType: string, constant: GraphProto['initializer'][number]): boolean {
  return steering([node(opType, ['x', 'c'], ['y'])], [{ ...constant, name: 'c' }]).length === 1;
}

describe('constants that are kept, because they decide what is computed', () => {
  test('integers, up to a size', () => {
    assert.ok(isKept('Reshape', integers('c', [4n, 1n])));
    const most = Array.from({ length: 1024 }, () => 1n);
    assert.ok(isKept('Add', integers('c', most)));
    assert.ok(!isKept('Add', integers('c', [...most, 1n])));
  });

  test('values from which a condition of control flow is computed', () => {
    const scalar = (name: string, count: number) =>
      tensor(name, 'int32', [], { rawData: Uint8Array.of(count, 0, 0, 0) });
    const unusual = (name: string, number: number) => floats(name, [number], []);
    // As tf2onnx writes a loop: it counts in int32, from a constant to a constant.
    const body = graph({
      input: [value('at', [], 'int64'), value('go', [], 'bool'), value('count', [], 'int32'), value('state', [1, 4])],
      node: [
        node('Add', ['count', 'step'], ['more']),
        node('Less', ['more', 'limit'], ['on']),
        node('Mul', ['state', 'factor'], ['next']),
      ],
      output: [value('on', [], 'bool'), value('more', [], 'int32'), value('next', [1, 4])],
    });
    const kept = steering(
      [
        node('Less', ['from', 'to'], ['goes']),
        node('Loop', ['', 'goes', 'start', 'x'], ['counted', 'y'], [graphAttribute('body', body)]),
      ],
      [
        scalar('step', 1),
        scalar('limit', 40),
        scalar('start', 7),
        unusual('from', 0.123),
        unusual('to', 40.5),
        unusual('factor', 0.777),
      ],
    );
    assert.deepEqual([...kept].sort(), ['from', 'limit', 'start', 'step', 'to']);
  });

  test('truth values', () => assert.ok(isKept('And', tensor('c', 'bool', [2], { rawData: Uint8Array.of(0, 1) }))));

  test('text', () => {
    const text = tensor('c', 'string', [1], { stringData: [Buffer.from('text')] });
    assert.ok(isKept('StringConcat', text));
  });

  test('bounds of a Clip, sizes of a Resize, and such inputs of other operators', () => {
    assert.ok(isKept('Clip', floats('c', [-0.123], [])));
    assert.ok(isKept('CumSum', tensor('c', 'int32', [], { rawData: Uint8Array.of(1, 0, 0, 0) })));
    assert.deepEqual(steering([node('Resize', ['x', '', 'scales'], ['y'])], [floats('scales', [1, 2.345])]), [
      'scales',
    ]);
  });

  test('scalars that occur in formulas', () => {
    for (const known of [0, 0.5, -1, 6, Math.SQRT2, 1 / Math.sqrt(64), 0.044715, 1e-5, 1e-12]) {
      assert.ok(isKept('Mul', floats('c', [known], [])), `${known}`);
      assert.ok(isKept('Mul', floats('c', [known], [1])), `[${known}]`);
      const rawData = new Uint8Array(Float64Array.of(known).buffer);
      assert.ok(isKept('Mul', tensor('c', 'float64', [], { rawData })), `${known} in double precision`);
      const halves = new Uint8Array(Uint16Array.of(float16Bits(known)).buffer);
      assert.ok(isKept('Pow', tensor('c', 'float16', [], { rawData: halves })), `${known} in half precision`);
    }
  });

  test('values from which sizes are computed, of any type, directly or indirectly', () => {
    const nodes = [
      node('Shape', ['x'], ['shape']),
      node('Cast', ['shape'], ['floats'], [int('to', 1)]),
      node('Neg', ['minus'], ['factor']),
      node('Mul', ['floats', 'factor'], ['scaled']),
      node('Cast', ['scaled'], ['sizes'], [int('to', 7)]),
      node('Resize', ['x', '', '', 'sizes'], ['large']),
      node('Add', ['large', 'learned'], ['y']),
    ];
    assert.deepEqual(steering(nodes, [floats('minus', [-1.7], []), floats('learned', [1.7], [])]), ['minus']);
  });

  test('but not values that are expanded to a computed size', () => {
    const nodes = [
      node('Shape', ['x'], ['shape']),
      node('Expand', ['token', 'shape'], ['tokens']),
      node('Add', ['x', 'tokens'], ['y']),
    ];
    assert.deepEqual(steering(nodes, [floats('token', [0.1, 0.2, 0.3, 0.4])]), []);
  });

  test('identities of every type, which an optimizer removes', () => {
    const scalar = (elementType: Parameters<typeof tensor>[1], ...rawData: number[]) =>
      tensor('c', elementType, [], { rawData: Uint8Array.from(rawData) });
    for (const identity of [
      scalar('float16', 0x00, 0x3c),
      scalar('bfloat16', 0x80, 0x3f),
      scalar('int32', 1, 0, 0, 0),
      scalar('int32', 0, 0, 0, 0),
      scalar('uint8', 1),
    ]) {
      assert.ok(isKept('Mul', identity), `${identity.dataType}`);
    }
    assert.ok(!isKept('Mul', scalar('float16', 0x01, 0x3c)));
    assert.ok(!isKept('Mul', scalar('int32', 7, 0, 0, 0)));
    assert.ok(isKept('Pow', scalar('int32', 7, 0, 0, 0)), 'an exponent');
    assert.ok(!isKept('Pow', floats('c', [2.87], [])), 'a learned exponent');
  });

  test('scalars in arithmetic with shapes, because the result may be an identity', () => {
    // As a detector relates the picture's original size to its size in the graph: 320.7 / 320.
    const nodes = [
      node('Shape', ['x'], ['shape']),
      node('Cast', ['shape'], ['floats'], [int('to', 1)]),
      node('Div', ['original', 'floats'], ['ratio']),
      node('Mul', ['x', 'ratio'], ['scaled']),
      node('Add', ['scaled', 'learned'], ['y']),
    ];
    assert.deepEqual(steering(nodes, [floats('original', [320.7], []), floats('learned', [1.7], [])]), ['original']);
  });

  test('values outside of a branch that steer an operator inside it', () => {
    const branch = graph({ node: [node('Clip', ['x', 'low'], ['out'])], output: [value('out', [1, 4])] });
    const attributes = [graphAttribute('then_branch', branch), graphAttribute('else_branch', branch)];
    const flag = tensor('flag', 'bool', [], { rawData: Uint8Array.of(1) });
    assert.deepEqual(steering([node('If', ['flag'], ['y'], attributes)], [flag, floats('low', [-0.123], [])]), [
      'flag',
      'low',
    ]);
  });
});

describe('constants that are treated as weights', () => {
  test('floats', () => assert.ok(!isKept('MatMul', floats('c', [1, 2, 3, 4]))));
  test('a list of values, although each of them is a known scalar', () =>
    assert.ok(!isKept('Add', floats('c', [0.5, 0.5]))));
  test('scalars that are learned', () => {
    for (const learned of [0.7123, 3.14, 0.5001, 1e-5 * 1.001]) {
      assert.ok(!isKept('Mul', floats('c', [learned], [])), `${learned}`);
    }
  });
  test('parameters of one element, of any value', () => {
    for (const operator of ['Conv', 'BatchNormalization', 'Gemm']) {
      assert.ok(!isKept(operator, floats('c', [-(2 ** -8)], [1])), operator);
    }
  });
  test('exponents that are learned, but not a square', () => {
    assert.ok(!isKept('Pow', floats('c', [2.9237], [1])));
    assert.ok(isKept('Pow', floats('c', [2], [])));
  });
  test('biases of quantized layers', () => {
    assert.ok(!isKept('Add', tensor('c', 'int32', [1], { rawData: Uint8Array.of(1, 0, 0, 0) })));
  });
  test('an input of an operator that has the name of a standard operator, but another domain', () => {
    const nodes = [node('Clip', ['x', 'c'], ['y'], [], { domain: 'com.microsoft' })];
    const opsetImport = ['', 'com.microsoft'].map((domain) => ({ domain, version: domain === '' ? 17n : 1n }));
    const initializer = [floats('c', [-0.123], [])];
    const ends = { input: [value('x', [1, 4])], output: [value('y', [1, 4])] };
    const bytes = model({ node: nodes, initializer, ...ends }, { opsetImport });
    assert.deepEqual([...steeringConstants(parseModel(bytes, 'model').graph)], []);
  });
});

test('an operator with the name of a property that every object inherits is treated like any other', () => {
  for (const name of INHERITED_NAMES) {
    assert.ok(!isKept(name, floats('c', [-0.123])), name);
    assert.ok(isKept(name, integers('c', [4n])), name);
  }
});

test('weights that are made up are not missing, and those of a file that is not there are', () => {
  const fill = { low: -1, high: 1, seed: 1 };
  const tensor = { elementType: 'float32', dims: [2, 2] } as const;
  const missingAmong = (missingFrom?: string) =>
    missingConstants({
      nodes: [],
      initializers: new Map([['w', { ...tensor, data: { kind: 'fill', fill, ...(missingFrom && { missingFrom }) } }]]),
    });
  assert.equal(missingAmong(), undefined);
  assert.deepEqual(missingAmong('w.bin')?.all, ['w']);
});
