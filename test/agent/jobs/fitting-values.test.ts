import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cutBrick } from '../../../plugins/dlbricks/bricks/brick.js';
import { lastUses } from '../../../plugins/dlbricks/cut/last-uses.js';
import type { NodeProto } from '../../../src/generated/onnx/onnx.js';
import { modelFromBenchmark, weightlessBenchmark } from '../../../src/measurement/weightless.js';
import { layerGraph } from '../../../src/onnx/layers/layer-graph.js';
import type { ElementType } from '../../../src/onnx/model/element-type.js';
import { parseModel } from '../../../src/onnx/read/read-model.js';
import { float, floats, graph, graphAttribute, int, ints, model, node, value } from '../../onnx/protos.js';
import { measuredBricks } from '../support/measured-bricks.js';
import { agentForSuite } from '../support/running-agent.js';

const ALL = { threads: 1, executionProvider: 'cpu', optimizationLevel: 'all' } as const;

type Values = Readonly<Record<string, readonly [ElementType, ...number[]]>>;

interface Case {
  readonly inputs: Values;
  readonly nodes: readonly NodeProto[];
  readonly outputs: readonly string[];
  readonly rest?: Parameters<typeof model>[0];
  /** Shape of the first output; it shows that the layer does some work. */
  readonly makes?: readonly number[];
}

const inDomain = (
  opType: string,
  inputs: string[],
  outputs: string[],
  attributes: Parameters<typeof node>[3] = [],
): NodeProto => node(opType, inputs, outputs, attributes, { domain: 'com.microsoft' });

const quantized = (...names: readonly string[]): Values =>
  Object.fromEntries(
    names.flatMap(
      (name) =>
        [
          [`${name}_scale`, ['float32']],
          [`${name}_zero`, ['uint8']],
        ] as const,
    ),
  ) as Values;

const HEADS = [int('num_heads', 4), int('kv_num_heads', 2)];

/** A decoding step with `past` tokens in the cache; 4 heads for queries, 2 for keys and values, each of 8 elements. */
const groupQueryAttention = (tokens: number, past: number): Case => ({
  inputs: {
    query: ['float32', 1, tokens, 32],
    key: ['float32', 1, tokens, 16],
    value: ['float32', 1, tokens, 16],
    past_key: ['float32', 1, 2, past, 8],
    past_value: ['float32', 1, 2, past, 8],
    seqlens_k: ['int32', 1],
    total: ['int32', 1],
  },
  nodes: [
    inDomain(
      'GroupQueryAttention',
      ['query', 'key', 'value', 'past_key', 'past_value', 'seqlens_k', 'total'],
      ['y', 'present_key', 'present_value'],
      HEADS,
    ),
  ],
  outputs: ['y', 'present_key', 'present_value'],
  makes: [1, tokens, 32],
});

/** Each case has inputs whose values must fit other inputs. */
const CASES: Readonly<Record<string, Case>> = {
  'a Reshape to a given shape': {
    inputs: { x: ['float32', 2, 6], shape: ['int64', 3] },
    nodes: [node('Reshape', ['x', 'shape'], ['r']), node('Relu', ['r'], ['y'])],
    outputs: ['y'],
    makes: [12, 1, 1],
  },
  'an Expand whose target comes through a Cast': {
    inputs: { x: ['float32', 1, 6], shape: ['int32', 3] },
    nodes: [node('Cast', ['shape'], ['s'], [int('to', 7)]), node('Expand', ['x', 's'], ['y'])],
    outputs: ['y'],
    makes: [1, 1, 6],
  },
  'a Resize by given scales': {
    inputs: { x: ['float32', 1, 2, 4, 4], scales: ['float32', 4] },
    nodes: [node('Resize', ['x', '', 'scales'], ['y'])],
    outputs: ['y'],
    makes: [1, 2, 8, 8],
  },
  'a Resize to given sizes': {
    inputs: { x: ['float32', 1, 2, 4, 4], sizes: ['int64', 4] },
    nodes: [node('Resize', ['x', '', '', 'sizes'], ['y'])],
    outputs: ['y'],
    makes: [1, 2, 8, 8],
  },
  'a CumSum': {
    inputs: { x: ['float32', 3, 5], axis: ['int64'] },
    nodes: [node('CumSum', ['x', 'axis'], ['y'])],
    outputs: ['y'],
    makes: [3, 5],
  },
  'a Col2Im': {
    inputs: { x: ['float32', 1, 18, 16], image: ['int64', 2], block: ['int64', 2] },
    nodes: [node('Col2Im', ['x', 'image', 'block'], ['y'])],
    outputs: ['y'],
    makes: [1, 18, 4, 4],
    rest: { output: [value('y', [1, 18, 4, 4])] },
  },
  'a Loop with a given trip count': {
    inputs: { trips: ['int64'], go: ['bool'], x: ['float32', 3] },
    nodes: [
      node(
        'Loop',
        ['trips', 'go', 'x'],
        ['last', 'y'],
        [
          graphAttribute(
            'body',
            graph({
              node: [node('Identity', ['c'], ['c2']), node('Add', ['v', 'v'], ['v2']), node('Identity', ['v2'], ['o'])],
              input: [value('i', [], 'int64'), value('c', [], 'bool'), value('v', [3])],
              output: [value('c2', [], 'bool'), value('v2', [3]), value('o', [3])],
            }),
          ),
        ],
      ),
    ],
    outputs: ['y'],
    makes: [8, 3],
  },
  'an LSTM with lengths of its sequences': {
    inputs: { x: ['float32', 6, 2, 3], w: ['float32', 1, 16, 3], r: ['float32', 1, 16, 4], lengths: ['int32', 2] },
    nodes: [node('LSTM', ['x', 'w', 'r', '', 'lengths'], ['y'], [int('hidden_size', 4)])],
    outputs: ['y'],
    makes: [6, 1, 2, 4],
  },
  'slices, tiles, splits and paddings': {
    inputs: {
      x: ['float32', 4, 6],
      from: ['int64', 2],
      to: ['int64', 2],
      by: ['int64', 2],
      pads: ['int64', 4],
      parts: ['int64', 2],
    },
    nodes: [
      node('Slice', ['x', 'from', 'to'], ['sliced']),
      node('Tile', ['sliced', 'by'], ['tiled']),
      node('Pad', ['tiled', 'pads'], ['padded']),
      node('Split', ['x', 'parts'], ['left', 'right'], [int('axis', 1)]),
      node('Concat', ['padded', 'left'], ['y'], [int('axis', 1)]),
    ],
    outputs: ['y', 'right'],
    makes: [4, 9],
  },
  'boxes that do not suppress each other': {
    inputs: {
      boxes: ['float32', 1, 64, 4],
      scores: ['float32', 1, 1, 64],
      most: ['int64', 1],
      overlap: ['float32', 1],
      least: ['float32', 1],
    },
    nodes: [node('NonMaxSuppression', ['boxes', 'scores', 'most', 'overlap', 'least'], ['y'])],
    outputs: ['y'],
    rest: { output: [value('y', undefined, 'int64')] },
    makes: [64, 3],
  },
  'regions of a picture': {
    inputs: { x: ['float32', 1, 2, 16, 16], boxes: ['float32', 3, 4], pictures: ['int64', 3] },
    nodes: [
      node(
        'RoiAlign',
        ['x', 'boxes', 'pictures'],
        ['y'],
        [int('output_height', 4), int('output_width', 4), float('spatial_scale', 0.5)],
      ),
    ],
    outputs: ['y'],
    makes: [3, 2, 4, 4],
  },
  'a prompt of a GroupQueryAttention': groupQueryAttention(5, 0),
  'a step of a GroupQueryAttention': groupQueryAttention(1, 126),
  'a QLinearGlobalAveragePool': {
    inputs: { x: ['uint8', 1, 4, 6, 6], ...quantized('x', 'y') },
    nodes: [
      inDomain(
        'QLinearGlobalAveragePool',
        ['x', 'x_scale', 'x_zero', 'y_scale', 'y_zero'],
        ['y'],
        [int('channels_last', 0)],
      ),
    ],
    outputs: ['y'],
    rest: { output: [value('y', undefined, 'uint8')] },
    makes: [1, 4, 1, 1],
  },
  'a MaxUnpool to a given size': {
    inputs: { x: ['float32', 1, 2, 3, 3], indices: ['int64', 1, 2, 3, 3], size: ['int64', 4] },
    nodes: [
      node('MaxUnpool', ['x', 'indices', 'size'], ['y'], [ints('kernel_shape', [2, 2]), ints('strides', [2, 2])]),
    ],
    outputs: ['y'],
    makes: [1, 2, 6, 6],
  },
  'a SplitToSequence in parts of given sizes': {
    inputs: { x: ['float32', 7, 3], sizes: ['int64', 3] },
    nodes: [
      node('SplitToSequence', ['x', 'sizes'], ['parts']),
      node('ConcatFromSequence', ['parts'], ['y'], [int('axis', 0)]),
    ],
    outputs: ['y'],
    makes: [7, 3],
  },
  'a QLinearAdd': {
    inputs: { a: ['uint8', 4, 6], b: ['uint8', 4, 6], ...quantized('a', 'b', 'y') },
    nodes: [inDomain('QLinearAdd', ['a', 'a_scale', 'a_zero', 'b', 'b_scale', 'b_zero', 'y_scale', 'y_zero'], ['y'])],
    outputs: ['y'],
    rest: { output: [value('y', undefined, 'uint8')] },
    makes: [4, 6],
  },
  'a QGemm': {
    inputs: { a: ['uint8', 4, 6], b: ['uint8', 6, 8], c: ['int32', 8], ...quantized('a', 'b', 'y') },
    nodes: [inDomain('QGemm', ['a', 'a_scale', 'a_zero', 'b', 'b_scale', 'b_zero', 'c', 'y_scale', 'y_zero'], ['y'])],
    outputs: ['y'],
    rest: { output: [value('y', undefined, 'uint8')] },
    makes: [4, 8],
  },
};

const OPSETS = {
  opsetImport: [
    { domain: '', version: 18n },
    { domain: 'com.microsoft', version: 1n },
  ],
};

function bytesOf({ inputs, nodes, outputs, rest }: Case): Uint8Array {
  const input = Object.entries(inputs).map(([name, [elementType, ...dims]]) => value(name, dims, elementType));
  return model({ input, node: [...nodes], output: outputs.map((name) => value(name)), ...rest }, OPSETS);
}

describe('inputs whose values must fit other inputs', { timeout: 600_000 }, () => {
  const agent = agentForSuite();

  for (const [name, one] of Object.entries(CASES)) {
    test(`${name}: the model and its bricks run, and there is work for them`, async () => {
      const { values, outcomes } = await measuredBricks(agent().client, parseModel(bytesOf(one), name), 'kernel');
      assert.deepEqual(values.get(one.outputs[0] ?? '')?.dims, one.makes);
      assert.deepEqual(
        outcomes,
        outcomes.map(() => 'samples'),
      );
    });
  }

  test('a GroupQueryAttention uses its whole cache, also as a brick', () => {
    const { graph: whole } = parseModel(bytesOf(groupQueryAttention(1, 126)), 'step');
    const fills = new Map(
      weightlessBenchmark({
        source: 'step',
        irVersion: 8,
        opsets: new Map([['com.microsoft', 1]]),
        graph: whole,
      }).inputs.map(({ name, fill: { low, high } }) => [name, [low, high]]),
    );
    assert.deepEqual(
      [fills.get('seqlens_k'), fills.get('total')],
      [
        [126, 126],
        [127, 127],
      ],
    );
  });

  test('its int32 constants control its work, so that other lengths are another brick', () => {
    const withTotal = (total: number): string => {
      const one = groupQueryAttention(1, 126);
      const inputs = Object.fromEntries(Object.entries(one.inputs).filter(([name]) => name !== 'total'));
      const rawData = new Uint8Array(Int32Array.of(total).buffer);
      const constant = { ...floats('total', [0], [1]), dataType: 6, rawData };
      const bytes = bytesOf({ ...one, inputs, rest: { initializer: [constant] } });
      return weightlessBenchmark(parseModel(bytes, 'step')).signature;
    };
    assert.notEqual(withTotal(127), withTotal(64));
  });
});

describe('values that a user gives', { timeout: 300_000 }, () => {
  const agent = agentForSuite();

  test('reach the bricks of the optimized graph and change their signatures', async () => {
    const { graph: whole } = parseModel(bytesOf(groupQueryAttention(1, 126)), 'step');
    const opsets = new Map([['com.microsoft', 1]]);
    const brickWith = async (seqlens?: number) => {
      const given = seqlens === undefined ? undefined : new Map([['seqlens_k', { low: seqlens, high: seqlens }]]);
      const asked = weightlessBenchmark({ source: 'step', irVersion: 8, opsets, graph: { ...whole, given } });
      const { benchmark, values } = await agent().client.optimize(asked, ALL);
      const kernels = layerGraph(modelFromBenchmark(benchmark, 'optimized'), values);
      const at = kernels.layers.findIndex(({ opType }) => opType === 'GroupQueryAttention');
      return cutBrick(kernels, lastUses(kernels), { first: at, last: at });
    };
    const assumed = await brickWith();
    const given = await brickWith(61);
    const lengthsOf = ({ inputs }: typeof given) =>
      inputs.filter(({ elementType }) => elementType === 'int32').map(({ fill }) => fill.low);
    assert.deepEqual(lengthsOf(assumed), [126, 127]);
    assert.deepEqual(lengthsOf(given), [61, 127]);
    assert.notEqual(given.signature, assumed.signature);
  });
});
