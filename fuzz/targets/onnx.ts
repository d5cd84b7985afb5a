import assert from 'node:assert/strict';
import fc from 'fast-check';
import { decomposeKernels, decomposeModel } from '../../plugins/dlbricks/bricks/unique-bricks.js';
import { AttributeProto_AttributeType as AttributeType } from '../../src/generated/onnx/onnx.js';
import { weightlessBenchmark } from '../../src/measurement/weightless.js';
import { layerGraph } from '../../src/onnx/layers/layer-graph.js';
import { parseModel } from '../../src/onnx/read/read-model.js';
import { encodeModelToBytes } from '../../src/onnx/write/write-model.js';
import {
  fn,
  float,
  floats,
  graph,
  graphAttribute,
  integers,
  model,
  node,
  reference,
  tensor,
  tensorAttribute,
  value,
} from '../../test/onnx/protos.js';
import { generatedModels } from '../../test/plugins/dlbricks/support/generated-graph.js';
import { mutateBytes } from '../mutate/bytes.js';
import { mutateMessage } from '../mutate/message.js';
import { readOrRefused, type Target } from './target.js';

const SOURCE = 'm.onnx';
const GENERATED = 12;

/**
 * A model with functions that call each other, one of which takes a branch; with branches, constants, text and shapes.
 */
function handMade(): Uint8Array {
  const branch = graph({
    node: [node('Add', ['h', 'k'], ['r'])],
    initializer: [floats('k', [0.3])],
    output: [value('r', [1, 4])],
  });
  const chosen = reference('then_branch', 'given', AttributeType.GRAPH);
  const functions = [
    fn('leaky', {
      input: ['a'],
      output: ['b'],
      attribute: ['slope'],
      node: [node('LeakyRelu', ['a'], ['b'], [reference('alpha', 'slope', AttributeType.FLOAT)])],
    }),
    fn('twice', {
      input: ['a'],
      output: ['c'],
      node: [
        node('leaky', ['a'], ['b'], [float('slope', 0.1)], { domain: 'local' }),
        node('leaky', ['b'], ['c'], [], { domain: 'local' }),
      ],
    }),
    fn('choose', {
      input: ['c'],
      output: ['o'],
      attribute: ['given'],
      node: [
        node(
          'If',
          ['c'],
          ['o'],
          [chosen, graphAttribute('else_branch', graph({ node: [node('Relu', ['c'], ['e'])], output: [value('e')] }))],
        ),
      ],
    }),
  ];
  return model(
    {
      node: [
        node('twice', ['x'], ['h'], [], { domain: 'local' }),
        node('Constant', [], ['c'], [tensorAttribute('value', floats('', [1, 2, 3, 4]))]),
        node('If', ['cond'], ['b'], [graphAttribute('then_branch', branch), graphAttribute('else_branch', branch)]),
        node('choose', ['cond'], ['d'], [graphAttribute('given', branch)], { domain: 'local' }),
        node('Reshape', ['b', 'shape'], ['s']),
        node('Sum', ['s', 'c', 'd'], ['y'], [], { name: 'last' }),
      ],
      input: [value('x', [1, 4]), value('cond', [], 'bool')],
      output: [value('y', [1, 4])],
      valueInfo: ['h', 'b', 'd', 's', 'call0/b', 'call1/b', 'call2/b'].map((name) => value(name, [1, 4])),
      initializer: [integers('shape', [1n, 4n]), tensor('words', 'string', [1], { stringData: [Buffer.from('a')] })],
    },
    {
      functions,
      opsetImport: [
        { domain: '', version: 17n },
        { domain: 'local', version: 1n },
      ],
    },
  );
}

/** Requires that a model's bytes stay the same when the model is read and written. */
function requireRoundTrip(bytes: Uint8Array, what: string): void {
  const again = encodeModelToBytes(parseModel(bytes, SOURCE));
  assert.ok(Buffer.from(bytes).equals(again), `${what} changes when it is read and written`);
}

/** Reads a model, cuts it in both ways, and reads its bricks, which are files like any other. */
function takeApart(bytes: Uint8Array): void {
  const read = parseModel(bytes, SOURCE);
  requireRoundTrip(weightlessBenchmark(read).model, 'the model without weights');
  const layers = layerGraph(read);
  const ends = { inputs: read.graph.inputs.length, outputs: read.graph.outputs.length };
  const surroundings = { modelWeightBytes: 0, cacheBytes: 0 };
  const context = { layers: layers.layers.length, ends, measured: 'together', surroundings } as const;
  for (const { bricks } of [decomposeModel('m', layers, 2), decomposeKernels('m', layers, 3, context)]) {
    for (const brick of bricks) requireRoundTrip(brick.model, `the brick of ${brick.operators.join('+')}`);
  }
}

/** ONNX files: read, cut, and made into bricks. */
export const onnx: Target = {
  name: 'onnx',
  seeds: () => {
    const generated = fc.sample(generatedModels({ maxSteps: 8 }), { seed: 1, numRuns: GENERATED });
    return Promise.resolve([handMade(), ...generated.map(({ model: one }) => encodeModelToBytes(one))]);
  },
  mutate: (input, random) => (random.oneIn(10) ? mutateBytes(input, random) : mutateMessage(input, random)),
  check: (input) => readOrRefused(() => takeApart(input), SOURCE),
};
