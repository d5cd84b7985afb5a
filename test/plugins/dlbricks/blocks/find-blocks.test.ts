import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findRepeatedBlocks } from '../../../../plugins/dlbricks/blocks/find-blocks.js';
import { shortenModel } from '../../../../plugins/dlbricks/blocks/shorten-model.js';
import type { Model } from '../../../../src/onnx/model/model.js';
import { buildZooModel } from '../../../../src/zoo/zoo.js';
import { float } from '../../../onnx/protos.js';
import { GraphBuilder, seededTensor } from '../support/graph-builder.js';
import { smallDecoder } from '../support/small-decoder.js';

/** A chain of blocks of two layers. Each block multiplies by its own weight. */
function chainOfBlocks(count: number, { isFirstRead = false } = {}): Model {
  const g = new GraphBuilder();
  let x = g.layer('Relu', [g.input('float32', [1, 4])], [1, 4]);
  let first = '';
  for (let block = 0; block < count; block++) {
    const weight = g.constant(seededTensor([4, 4], { low: -1, high: 1 }, block));
    x = g.layer('Tanh', [g.layer('MatMul', [x, weight], [1, 4])], [1, 4]);
    if (block === 0) first = x;
  }
  return g.model([isFirstRead ? g.layer('Add', [x, first], [1, 4]) : g.layer('Softmax', [x], [1, 4])]);
}

function operatorsOf({ graph }: Model): readonly string[] {
  return graph.nodes.map(({ opType }) => opType);
}

describe('repeated blocks', () => {
  for (const phase of ['prefill', 'decode'] as const) {
    for (const precision of ['float32', 'int4'] as const) {
      test(`of a decoder (${phase}, ${precision}) are its layers; with fewer blocks, it equals the decoder with fewer layers`, () => {
        const { model } = smallDecoder(phase, 7, precision);
        const blocks = findRepeatedBlocks(model) ?? assert.fail();
        assert.equal(blocks.count, 7);
        for (const keep of [2, 3]) {
          const { model: short, outputOf } = shortenModel(model, blocks, keep);
          const { model: expected } = smallDecoder(phase, keep, precision);
          assert.deepEqual(operatorsOf(short), operatorsOf(expected));
          assert.deepEqual(short.graph.inputs, expected.graph.inputs);
          assert.deepEqual(short.graph.outputs, expected.graph.outputs);
          assert.equal(short.graph.initializers.size, expected.graph.initializers.size);
          assert.deepEqual(
            short.graph.nodes.map(({ outputs }) => short.graph.types.get(outputs[0] ?? '')),
            expected.graph.nodes.map(({ outputs }) => expected.graph.types.get(outputs[0] ?? '')),
          );
          assert.equal(outputOf.get('present_key_6'), `present_key_${keep - 1}`);
          assert.equal(outputOf.get('logits'), 'logits');
        }
      });
    }
  }

  test('are found in transformers of other kinds, and in convolutional networks', () => {
    // Layers of BERT-base (Devlin et al., section 3) and of GPT-2 small (Radford et al., table 2); blocks of the third stage
    // of ResNet-101 after its first one (He et al., table 1).
    const counts = ['bert_base', 'gpt2', 'resnet101'].map((name) => findRepeatedBlocks(buildZooModel(name))?.count);
    assert.deepEqual(counts, [12, 12, 22]);
  });

  test('are given up where each of thousands of places may be the first of a block', () => {
    const g = new GraphBuilder();
    let x = g.input('float32', [1, 4]);
    const ends: string[] = [];
    for (let block = 0; block < 8; block++) {
      for (let i = 0; i < 1000; i++) x = g.layer('LeakyRelu', [x], [1, 4], [float('alpha', i / 1000)]);
      ends.push(x);
    }
    const model = g.model([g.layer('Sum', ends, [1, 4])]);
    let looks = 0;
    const nodes = new Proxy(model.graph.nodes, {
      get: (all, key, receiver): unknown => {
        looks++;
        return Reflect.get(all, key, receiver);
      },
    });
    assert.equal(findRepeatedBlocks({ graph: { ...model.graph, nodes } }), undefined);
    // To compare all nodes at each of 2000 places takes 2000 looks at each node.
    assert.ok(looks / nodes.length < 300, `${looks} looks at ${nodes.length} nodes`);
  });

  test('are not found where nothing repeats, or too few times', () => {
    assert.equal(findRepeatedBlocks(buildZooModel('squeezenet1.1')), undefined);
    assert.equal(findRepeatedBlocks(smallDecoder('prefill', 3).model), undefined);
    assert.equal(findRepeatedBlocks(chainOfBlocks(6))?.count, 6);
  });

  test('do not contain a block whose output a distant layer reads: without it, that layer would lack its input', () => {
    const model = chainOfBlocks(8, { isFirstRead: true });
    const blocks = findRepeatedBlocks(model) ?? assert.fail();
    assert.equal(blocks.count, 7);
    const { graph } = shortenModel(model, blocks, 2).model;
    const made = new Set([...graph.inputs, ...graph.initializers.keys()]);
    for (const { inputs, outputs } of graph.nodes) {
      for (const name of inputs) assert.ok(made.has(name), name);
      for (const name of outputs) made.add(name);
    }
  });
});
