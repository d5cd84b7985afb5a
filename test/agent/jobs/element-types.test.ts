import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TypeProto } from '../../../src/generated/onnx/onnx.js';
import type { ElementType } from '../../../src/onnx/model/element-type.js';
import { ELEMENT_TYPES } from '../../../src/onnx/model/element-type.js';
import { parseModel } from '../../../src/onnx/read/read-model.js';
import { attribute, float, floats, int, integers, model, node, tensor, value } from '../../onnx/protos.js';
import { measuredBricks } from '../support/measured-bricks.js';
import { agentForSuite } from '../support/running-agent.js';

const OPSETS = {
  irVersion: 13n,
  opsetImport: [
    { domain: '', version: 25n },
    { domain: 'ai.onnx.ml', version: 4n },
  ],
};
const ofMl = (...args: Parameters<typeof node>) => node(args[0], args[1], args[2], args[3], { domain: 'ai.onnx.ml' });
const texts = (name: string, list: readonly string[]) =>
  attribute(name, { strings: list.map((text) => Buffer.from(text)), type: 8 });
const numbers = (name: string, list: readonly number[]) => attribute(name, { floats: [...list], type: 6 });

const typeOfSequence = (value: NonNullable<TypeProto['value']>): TypeProto => ({
  denotation: '',
  value: { $case: 'sequenceType', value: { elemType: { denotation: '', value } } },
});

/** Casts to the type and back, since the runtime has no layer that computes with all of these types. */
const through = (elementType: ElementType): Uint8Array => {
  const nodes = [
    node('Relu', ['x'], ['r']),
    node('Cast', ['r'], ['narrow'], [int('to', ELEMENT_TYPES[elementType].code)]),
    node('Cast', ['narrow'], ['y'], [int('to', ELEMENT_TYPES.float32.code)]),
  ];
  return model({ input: [value('x', [32, 64])], node: nodes, output: [value('y')] }, OPSETS);
};

/** An input and an output of the type. */
const atTheEnds = (elementType: ElementType): Uint8Array => {
  const { code } = ELEMENT_TYPES[elementType];
  return model(
    {
      input: [value('x', [8, 4], elementType)],
      node: [
        node('Cast', ['x'], ['wide'], [int('to', ELEMENT_TYPES.float32.code)]),
        node('Relu', ['wide'], ['r']),
        node('Cast', ['r'], ['y'], [int('to', code)]),
      ],
      output: [value('y', [8, 4], elementType)],
    },
    OPSETS,
  );
};

const quantizedWeights = model(
  {
    input: [value('x', [4, 8])],
    node: [node('DequantizeLinear', ['w', 's'], ['d']), node('MatMul', ['x', 'd'], ['y'])],
    output: [value('y')],
    initializer: [tensor('w', 'int4', [8, 8], { rawData: new Uint8Array(32).fill(0x21) }), floats('s', [0.5], [])],
  },
  OPSETS,
);

const wordsToNumbers = model(
  {
    input: [value('x', [3], 'string')],
    node: [
      ofMl(
        'LabelEncoder',
        ['x'],
        ['n'],
        [texts('keys_strings', ['a', 'and']), numbers('values_floats', [1, 2]), float('default_float', 0)],
      ),
      node('Relu', ['n'], ['y']),
    ],
    output: [value('y')],
  },
  OPSETS,
);

const throughSequence = model(
  {
    input: [value('x', [4, 8])],
    node: [
      node('Relu', ['x'], ['r']),
      node('SplitToSequence', ['r'], ['parts'], [int('axis', 0)]),
      node('SequenceAt', ['parts', 'second'], ['part']),
      node('Sigmoid', ['part'], ['y']),
    ],
    output: [value('y')],
    initializer: [integers('second', [1n], [])],
  },
  { ...OPSETS, opsetImport: [{ domain: '', version: 17n }] },
);

const throughOptional = model(
  {
    input: [value('x', [4, 8])],
    node: [
      node('Optional', ['x'], ['maybe']),
      node('OptionalGetElement', ['maybe'], ['there']),
      node('Sigmoid', ['there'], ['y']),
    ],
    output: [value('y')],
  },
  { ...OPSETS, opsetImport: [{ domain: '', version: 17n }] },
);

const onlySequences = model(
  {
    input: [value('x', [4, 8])],
    node: [node('Relu', ['x'], ['r']), node('SplitToSequence', ['r'], ['parts'])],
    output: [
      {
        name: 'parts',
        docString: '',
        type: typeOfSequence({
          $case: 'tensorType',
          value: { elemType: ELEMENT_TYPES.float32.code, shape: undefined },
        }),
      },
    ],
  },
  OPSETS,
);

const MODELS: Readonly<Record<string, Uint8Array>> = {
  'int4 between layers': through('int4'),
  'uint4 between layers': through('uint4'),
  'bfloat16 between layers': through('bfloat16'),
  'float8 between layers': through('float8e4m3fn'),
  'int4 at both ends': atTheEnds('int4'),
  'int2 between layers': through('int2'),
  'uint2 at both ends': atTheEnds('uint2'),
  'bfloat16 at both ends': atTheEnds('bfloat16'),
  'float8 at both ends': atTheEnds('float8e5m2'),
  'int4 weights': quantizedWeights,
  'texts as an input': wordsToNumbers,
  'a sequence between layers': throughSequence,
  'an optional value between layers': throughOptional,
  'nothing but a sequence as an output': onlySequences,
};

describe('values that the bindings of the runtime do not take or return', { timeout: 600_000 }, () => {
  const agent = agentForSuite();

  for (const [name, bytes] of Object.entries(MODELS)) {
    for (const cut of ['kernel', 'layer'] as const) {
      test(`the model and its bricks run at the ${cut} cut: ${name}`, async () => {
        const { outcomes, bricks } = await measuredBricks(agent().client, parseModel(bytes, name), cut);
        assert.ok(bricks.length > 0);
        assert.deepEqual(
          outcomes,
          outcomes.map(() => 'samples'),
        );
      });
    }
  }

  test('their types and shapes are known', async () => {
    const { values } = await measuredBricks(agent().client, parseModel(through('int4'), 'int4'), 'layer');
    assert.deepEqual(values.get('narrow'), { elementType: 'int4', dims: [32, 64] });
  });

  test('a model that returns only maps is refused, with advice', () => {
    const map = { $case: 'mapType', value: { keyType: ELEMENT_TYPES.int64.code, valueType: undefined } } as const;
    const bytes = model({
      input: [value('x', [1, 2])],
      node: [node('ZipMap', ['x'], ['z'], [], { domain: 'ai.onnx.ml' })],
      output: [{ name: 'z', docString: '', type: typeOfSequence(map) }],
    });
    assert.throws(() => parseModel(bytes, 'classes'), /none of the graph's outputs is a tensor .*zipmap=False/);
  });

  test('the layer that makes a sequence and the layer that reads it are one brick', async () => {
    const { bricks } = await measuredBricks(agent().client, parseModel(throughSequence, 'sequence'), 'kernel');
    assert.deepEqual(
      bricks.map(({ operators }) => operators),
      [['Relu'], ['SplitToSequence', 'SequenceAt'], ['Sigmoid']],
    );
  });
});
