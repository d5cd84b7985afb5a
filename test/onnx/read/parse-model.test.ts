import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseModel } from '../../../src/onnx/read/read-model.js';
import {
  float,
  floats,
  graph,
  graphAttribute,
  int,
  integers,
  ints,
  attribute,
  model,
  node,
  pipeline,
  tensorAttribute,
  value,
} from '../protos.js';

const isModelError = (pattern: RegExp) => (error: unknown) => {
  assert.ok(error instanceof Error);
  assert.equal(error.name, 'PlatformError');
  assert.match(error.message, /^m\.onnx/);
  assert.match(error.message, pattern);
  return true;
};

function opTypes(bytes: Uint8Array): readonly string[] {
  return parseModel(bytes, 'm.onnx').graph.nodes.map(({ opType }) => opType);
}

function inlineFloats(bytes: Uint8Array, name: string): number[] {
  const data = parseModel(bytes, 'm.onnx').graph.initializers.get(name)?.data;
  assert.equal(data?.kind, 'inline');
  return [...new Float32Array(data.bytes.slice().buffer)];
}

describe('constants', () => {
  test('a Constant node is an initializer and not a node', () => {
    const nodes = [
      node('Constant', [], ['c'], [tensorAttribute('value', floats('anything', [1, 2, 3, 4]))]),
      node('Add', ['x', 'c'], ['y']),
    ];
    const { graph: read } = parseModel(pipeline(nodes), 'm.onnx');
    assert.deepEqual(
      read.nodes.map(({ opType }) => opType),
      ['Add'],
    );
    assert.deepEqual(inlineFloats(pipeline(nodes), 'c'), [1, 2, 3, 4]);
    assert.deepEqual(read.initializers.get('c')?.dims, [4]);
  });

  const forms = [
    { attribute: float('value_float', 2.5), elementType: 'float32', dims: [] },
    { attribute: attribute('value_floats', { floats: [1, 2] }), elementType: 'float32', dims: [2] },
    { attribute: int('value_int', -3), elementType: 'int64', dims: [] },
    { attribute: ints('value_ints', [1, -2, 3]), elementType: 'int64', dims: [3] },
    { attribute: attribute('value_string', { s: Buffer.from('a') }), elementType: 'string', dims: [] },
    { attribute: attribute('value_strings', { strings: [Buffer.from('a')] }), elementType: 'string', dims: [1] },
  ];
  for (const { attribute: form, elementType, dims } of forms) {
    test(`a Constant may have its value in ${form.name}`, () => {
      const bytes = pipeline([node('Constant', [], ['c'], [form]), node('Op', ['x', 'c'], ['y'])]);
      const constant = parseModel(bytes, 'm.onnx').graph.initializers.get('c');
      assert.deepEqual([constant?.elementType, constant?.dims], [elementType, dims]);
    });
  }

  test('a sparse Constant is refused by name', () => {
    const bytes = pipeline([
      node('Constant', [], ['c'], [attribute('sparse_value', {})], { name: 'thin' }),
      node('Add', ['x', 'c'], ['y']),
    ]);
    assert.throws(() => parseModel(bytes, 'm.onnx'), isModelError(/"thin".*sparse/));
  });

  test('a sparse attribute is refused by name, alone and in a list', () => {
    const sparse = { values: floats('thin', [1]), indices: integers('', [0n]), dims: [4n] };
    for (const given of [{ sparseTensor: sparse }, { sparseTensors: [sparse] }]) {
      const bytes = pipeline([node('Relu', ['x'], ['y'], [attribute('odd', given)], { name: 'thin' })]);
      assert.throws(() => parseModel(bytes, 'm.onnx'), isModelError(/attribute "odd" of .*"thin".*sparse/));
    }
  });

  test('a sparse initializer is refused by name', () => {
    const sparse = { values: floats('thin', [1]), indices: integers('', [0n]), dims: [4n] };
    const bytes = pipeline([node('Relu', ['x'], ['y'])], { sparseInitializer: [sparse] });
    assert.throws(() => parseModel(bytes, 'm.onnx'), isModelError(/"thin" is sparse/));
  });

  test('an initializer that is listed among the inputs is no input', () => {
    const bytes = pipeline([node('Add', ['x', 'w'], ['y'])], {
      input: [value('w', [4]), value('x', [1, 4])],
      initializer: [floats('w', [1, 2, 3, 4])],
    });
    assert.deepEqual(parseModel(bytes, 'm.onnx').graph.inputs, ['x']);
  });
});

describe('parts that no output depends on', () => {
  const bytes = pipeline(
    [
      node('Relu', ['x'], ['y']),
      node('Neg', ['x'], ['dead1']),
      node('Add', ['dead1', 'unused'], ['dead2']),
      node('Split', ['x'], ['', 'dead3']),
    ],
    {
      initializer: [floats('unused', [1, 2, 3, 4])],
      valueInfo: [value('dead1', [1, 4]), value('ghost', [1])],
    },
  );
  const read = parseModel(bytes, 'm.onnx').graph;
  test('nodes are removed', () => assert.deepEqual(opTypes(bytes), ['Relu']));
  test('initializers are removed', () => assert.equal(read.initializers.size, 0));
  test('types are removed', () => assert.deepEqual([...read.types.keys()].sort(), ['x', 'y']));
  test('inputs stay, since callers feed them', () => {
    const unusedInput = pipeline([node('Relu', ['x'], ['y'])], { input: [value('x', [1, 4]), value('z', [1])] });
    assert.deepEqual(parseModel(unusedInput, 'm.onnx').graph.inputs, ['x', 'z']);
  });
  test('a value that only a subgraph uses is needed', () => {
    const branch = graph({ node: [node('Neg', ['outer'], ['b'])], output: [value('b')] });
    const withIf = pipeline(
      [
        node('Relu', ['x'], ['outer']),
        node('If', ['c'], ['y'], [graphAttribute('then_branch', branch), graphAttribute('else_branch', branch)]),
      ],
      { input: [value('x', [1, 4]), value('c', [], 'bool')] },
    );
    assert.deepEqual(opTypes(withIf), ['Relu', 'If']);
  });
});

describe('the order of nodes', () => {
  test('a valid order stays', () => {
    const nodes = [node('B', ['x'], ['b']), node('A', ['x'], ['a']), node('C', ['a', 'b'], ['y'])];
    assert.deepEqual(opTypes(pipeline(nodes)), ['B', 'A', 'C']);
  });
  test('an invalid order becomes the nearest valid one', () => {
    const nodes = [node('C', ['a', 'b'], ['y']), node('B', ['x'], ['b']), node('A', ['x'], ['a'])];
    assert.deepEqual(opTypes(pipeline(nodes)), ['B', 'A', 'C']);
  });
  test('a node comes after the values that its subgraph captures', () => {
    const branch = graph({ node: [node('Neg', ['late'], ['b'])], output: [value('b')] });
    const nodes = [
      node('If', ['c'], ['y'], [graphAttribute('then_branch', branch), graphAttribute('else_branch', branch)]),
      node('Relu', ['x'], ['late']),
    ];
    const bytes = pipeline(nodes, { input: [value('x', [1, 4]), value('c', [], 'bool')] });
    assert.deepEqual(opTypes(bytes), ['Relu', 'If']);
  });
});

describe('a graph that is wrong', () => {
  const wrong: [what: string, bytes: Uint8Array, pattern: RegExp][] = [
    [
      'a cycle names the nodes on it',
      pipeline([
        node('Add', ['x', 'b'], ['a'], [], { name: 'first' }),
        node('Relu', ['a'], ['b'], [], { name: 'second' }),
        node('Neg', ['b'], ['y'], [], { name: 'outside' }),
      ]),
      /cycle, in which each needs an output of another: node "first" \(Add\), node "second" \(Relu\)\./,
    ],
    ['a node that needs itself is a cycle', pipeline([node('Add', ['x', 'y'], ['y'])]), /cycle, .*makes "y" \(Add\)/],
    [
      'a value that no node makes names node and value',
      pipeline([node('Add', ['x', 'gone'], ['y'], [], { name: 'sum' })]),
      /node "sum" \(Add\) uses the value "gone", which no node makes/,
    ],
    [
      'a value that is made twice',
      pipeline([node('Relu', ['x'], ['y']), node('Neg', ['x'], ['y'])]),
      /"y" is made twice/,
    ],
    ['a node that makes an input', pipeline([node('Relu', ['x'], ['x'])]), /"x" is made twice/],
    ['an output that no node makes', pipeline([]), /no node makes the output "y"/],
    ['a graph without outputs', pipeline([], { output: [] }), /has no output/],
    ['a model without a graph', model({}, { graph: undefined }), /holds no graph/],
    [
      'an input without a type',
      pipeline([], { input: [{ ...value('x'), type: undefined }] }),
      /input "x" is a value without a type/,
    ],
    [
      'a sequence as input',
      pipeline([], {
        input: [
          {
            ...value('list'),
            type: { denotation: '', value: { $case: 'sequenceType', value: { elemType: undefined } } },
          },
        ],
      }),
      /input "list" is a sequence/,
    ],
    [
      'an element type that is not known',
      pipeline([node('Add', ['x', 'w'], ['y'])], { initializer: [{ ...floats('w', [1]), dataType: 14 }] }),
      /initializer "w": its element type \(number 14\)/,
    ],
    [
      'a reference to a parameter outside of a function',
      pipeline([node('Elu', ['x'], ['y'], [attribute('alpha', { refAttrName: 'a' })], { name: 'n' })]),
      /attribute "alpha" of node "n" \(Elu\) refers to the parameter "a"/,
    ],
  ];
  for (const [what, bytes, pattern] of wrong) {
    test(what, () => assert.throws(() => parseModel(bytes, 'm.onnx'), isModelError(pattern)));
  }
});

describe('types', () => {
  test('symbols, unnamed dimensions, sizes and unknown ranks are distinguished', () => {
    const bytes = pipeline([node('Relu', ['x'], ['h']), node('Relu', ['h'], ['y'])], {
      input: [value('x', ['N', '', 4])],
      output: [value('y')],
    });
    const { types } = parseModel(bytes, 'm.onnx').graph;
    assert.deepEqual(types.get('x')?.dims, ['N', '', 4]);
    assert.equal(types.get('y')?.dims, undefined);
    assert.equal(types.has('h'), false);
  });

  test('an intermediate value that is no tensor has no type', () => {
    const bytes = pipeline([node('SequenceConstruct', ['x'], ['s']), node('ConcatFromSequence', ['s'], ['y'])], {
      valueInfo: [
        {
          ...value('s'),
          type: { denotation: '', value: { $case: 'sequenceType', value: { elemType: undefined } } },
        },
      ],
    });
    assert.equal(parseModel(bytes, 'm.onnx').graph.types.has('s'), false);
  });
});

test('domains: ai.onnx is the standard domain, and imports that no node uses are dropped', () => {
  const opsetImport = [
    { domain: 'ai.onnx', version: 17n },
    { domain: 'com.unused', version: 3n },
    { domain: 'com.used', version: 2n },
  ];
  const nodes = [
    node('Relu', ['x'], ['h'], [], { domain: 'ai.onnx' }),
    node('Own', ['h'], ['y'], [], { domain: 'com.used' }),
  ];
  const bytes = model({ node: nodes, input: [value('x', [1])], output: [value('y', [1])] }, { opsetImport });
  const read = parseModel(bytes, 'm.onnx');
  assert.deepEqual(
    [...read.opsets],
    [
      ['', 17],
      ['com.used', 2],
    ],
  );
  assert.equal(read.graph.nodes[0]?.domain, '');
});

test('many nodes in reverse order take linear time', { timeout: 60_000 }, () => {
  const count = 50_000;
  const nodes = Array.from({ length: count }, (_, i) => node('Relu', [i === 0 ? 'x' : `v${i}`], [`v${i + 1}`]));
  const bytes = pipeline(nodes.reverse(), { output: [value(`v${count}`)] });
  const read = parseModel(bytes, 'm.onnx').graph.nodes;
  assert.equal(read.length, count);
  assert.deepEqual(read[0]?.inputs, ['x']);
});

describe('a size that no tensor has', () => {
  const sized = (size: bigint): Uint8Array => {
    const input = value('x', [1, 4]);
    if (input.type?.value?.$case === 'tensorType') {
      input.type.value.value.shape = { dim: [{ denotation: '', value: { $case: 'dimValue', value: size } }] };
    }
    return model({ node: [node('Relu', ['x'], ['y'])], input: [input], output: [value('y')] });
  };

  for (const size of [2n ** 53n, 2n ** 63n - 1n]) {
    test(`${size} is refused, and not measured as 1`, () => {
      assert.throws(
        () => parseModel(sized(size), 'm.onnx'),
        isModelError(new RegExp(`input "x" is a tensor of the impossible size ${size}`)),
      );
    });
  }

  test('is neither a size that is just large nor one that an exporter did not know', () => {
    const dims = (size: bigint) => parseModel(sized(size), 'm.onnx').graph.types.get('x')?.dims;
    assert.deepEqual(dims(2n ** 53n - 1n), [2 ** 53 - 1]);
    assert.deepEqual(dims(-1n), ['']);
  });
});
