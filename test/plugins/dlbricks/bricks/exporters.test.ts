import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cutBrick } from '../../../../plugins/dlbricks/bricks/brick.js';
import { lastUses } from '../../../../plugins/dlbricks/cut/last-uses.js';
import { parseModel } from '../../../../src/onnx/read/read-model.js';
import { layerGraph } from '../../../../src/onnx/layers/layer-graph.js';
import type { ElementType } from '../../../../src/onnx/model/element-type.js';
import { float, int, ints, model, node, value } from '../../../onnx/protos.js';
import { floatTensor, GraphBuilder, int64Tensor } from '../support/graph-builder.js';
import { runBenchmark } from '../support/runtime.js';

type Build = (g: GraphBuilder, x: string) => void;

/** One block as an exporter writes it. */
interface Export {
  readonly opset: number;
  readonly build: Build;
}

/** The block as bricks of one layer each. */
function bricksOf({ opset, build }: Export, dims: readonly number[], elementType: ElementType = 'float32') {
  const g = new GraphBuilder();
  build(g, g.input(elementType, dims));
  const whole = layerGraph({ ...g.model(g.ends()), opsets: new Map([['', opset]]) }, g.inferred);
  const uses = lastUses(whole);
  return whole.layers.map((_, index) => cutBrick(whole, uses, { first: index, last: index }));
}

const signaturesOf = (exported: Export, dims: readonly number[]): readonly string[] => {
  return bricksOf(exported, dims).map(({ signature }) => signature);
};

const IMAGE = [1, 8, 16, 16];

/** As torch.onnx.export with TorchScript writes it: every attribute, opset 17. */
const scriptedConvolution: Export = {
  opset: 17,
  build(g, x) {
    const attributes = [ints('dilations', [1, 1]), int('group', 1), ints('kernel_shape', [3, 3])];
    const window = [ints('pads', [1, 1, 1, 1]), ints('strides', [1, 1])];
    const weights = [g.weight([8, 8, 3, 3], 72), g.constant(floatTensor(new Array<number>(8).fill(0.1), [8]))];
    const conv = g.layer('Conv', [x, ...weights], IMAGE, [...attributes, ...window]);
    const sum = g.layer('Add', [g.layer('Relu', [conv], IMAGE), x], IMAGE);
    g.layer(
      'MaxPool',
      [sum],
      [1, 8, 8, 8],
      [
        int('ceil_mode', 0),
        ints('dilations', [1, 1]),
        ints('kernel_shape', [2, 2]),
        ints('pads', [0, 0, 0, 0]),
        ints('strides', [2, 2]),
      ],
    );
  },
};

/** As the exporter of torch.export writes it: no attribute that follows from a weight, a newer opset. */
const exportedConvolution: Export = {
  opset: 22,
  build(g, x) {
    const weights = [g.weight([8, 8, 3, 3], 72), g.constant(floatTensor(new Array<number>(8).fill(0.1), [8]))];
    const conv = g.layer('Conv', [x, ...weights], IMAGE, [ints('pads', [1, 1, 1, 1])]);
    const sum = g.layer('Add', [g.layer('Relu', [conv], IMAGE), x], IMAGE);
    g.layer('MaxPool', [sum], [1, 8, 8, 8], [ints('kernel_shape', [2, 2]), ints('strides', [2, 2])]);
  },
};

const TOKENS = [1, 16, 32];

/** Heads and a softmax, with the target and the axis that an exporter chose. */
function attention(opset: number, target: readonly number[], axis: number): Export {
  return {
    opset,
    build(g, x) {
      const heads = g.layer('Reshape', [x, g.constant(int64Tensor(target))], [1, 16, 4, 8]);
      const turned = g.layer('Transpose', [heads], [1, 4, 16, 8], [ints('perm', [0, 2, 1, 3])]);
      g.layer('Softmax', [turned], [1, 4, 16, 8], [int('axis', axis)]);
    },
  };
}

/** The end of a classifier. */
function classifier(opset: number, axis: readonly number[]): Export {
  return {
    opset,
    build(g, x) {
      const joined = g.layer('Concat', [x, x], [16, 64], [int('axis', opset < 11 ? 1 : -1)]);
      const bias = g.constant(floatTensor([0.5, 0.5, 0.5, 0.5], [4]));
      const sums = g.layer('Gemm', [joined, g.weight([64, 4], 64), bias], [16, 4]);
      g.layer(
        'Softmax',
        [sums],
        [16, 4],
        axis.map((value) => int('axis', value)),
      );
    },
  };
}

describe('the same block from another exporter gives the same bricks', () => {
  test('a convolution with its activation, sum and pool', () => {
    assert.deepEqual(signaturesOf(exportedConvolution, IMAGE), signaturesOf(scriptedConvolution, IMAGE));
  });

  test('attention heads, with any target of the same shape and any way to count an axis', () => {
    const expected = signaturesOf(attention(17, [0, 0, 4, 8], -1), TOKENS);
    assert.deepEqual(signaturesOf(attention(13, [1, 16, -1, 8], 3), TOKENS), expected);
    assert.deepEqual(signaturesOf(attention(23, [-1, 16, 4, 8], 3), TOKENS), expected);
  });

  test('a target of a value without elements, which the runtime takes only with all its sizes', async () => {
    const empty = (target: readonly number[]): Export => ({
      opset: 17,
      build: (g, x) => void g.layer('Reshape', [x, g.constant(int64Tensor(target))], [0, 91, 4]),
    });
    assert.deepEqual(signaturesOf(empty([-1, 91, 4]), [0, 364]), signaturesOf(empty([0, 91, -1]), [0, 364]));
    for (const brick of bricksOf(empty([0, 91, -1]), [0, 364])) assert.equal((await runBenchmark(brick)).size, 1);
  });

  test('one scalar read twice, and two scalars', () => {
    const clip = (isOne: boolean): Export => ({
      opset: 17,
      build(g, x) {
        const low = g.constant(floatTensor([0.5], []));
        g.layer('Clip', [x, low, isOne ? low : g.constant(floatTensor([0.5], []))], IMAGE);
      },
    });
    assert.deepEqual(signaturesOf(clip(true), IMAGE), signaturesOf(clip(false), IMAGE));
  });

  test('a Gemm with its defaults written out', () => {
    const gemm = (attributes: Parameters<GraphBuilder['layer']>[3]): Export => ({
      opset: 13,
      build: (g, x) => void g.layer('Gemm', [x, g.weight([32, 4], 32)], [16, 4], attributes),
    });
    const written = [float('alpha', 1), float('beta', 1), int('transA', 0), int('transB', 0)];
    assert.deepEqual(signaturesOf(gemm(written), [16, 32]), signaturesOf(gemm([]), [16, 32]));
    assert.notDeepEqual(signaturesOf(gemm([float('alpha', 0.5)]), [16, 32]), signaturesOf(gemm([]), [16, 32]));
  });

  test('a classifier of an opset in which its operators were defined differently', () => {
    const expected = signaturesOf(classifier(17, [-1]), [16, 32]);
    // The default axis is 1 before opset 13, and the last since then: here they are the same.
    for (const [opset, axis] of [
      [7, [1]],
      [9, []],
      [12, [1]],
      [13, []],
      [23, [1]],
    ] as const) {
      assert.deepEqual(signaturesOf(classifier(opset, axis), [16, 32]), expected, `opset ${opset}`);
    }
  });

  test('and the bricks still run, with the shapes of the model', async () => {
    for (const brick of [
      ...bricksOf(scriptedConvolution, IMAGE),
      ...bricksOf(attention(23, [1, 16, 4, 8], 3), TOKENS),
      ...bricksOf(classifier(9, []), [16, 32]),
    ]) {
      assert.equal((await runBenchmark(brick)).size, 1);
    }
  });
});

describe('the opset that a brick gets in place of its own', () => {
  /** One layer of two inputs, of which the second may have another element type. */
  const binary = (opType: string, elementType: ElementType): Export => ({
    opset: 13,
    build: (g, x) => void g.layer(opType, [x, g.input(elementType, [4, 4])], [4, 4]),
  });

  test('supports its element types', async () => {
    const cases: readonly [Export, ElementType][] = [
      [binary('Max', 'int64'), 'int64'],
      [binary('Min', 'int64'), 'int64'],
      [binary('Pow', 'int64'), 'float32'],
      [{ opset: 14, build: (g, x) => void g.layer('CumSum', [x, g.constant(int64Tensor([0]))], [4, 4]) }, 'float16'],
    ];
    for (const [exported, elementType] of cases) {
      const [brick] = bricksOf(exported, [4, 4], elementType);
      assert.ok(brick !== undefined);
      const opset = parseModel(brick.model, 'brick').opsets.get('') ?? 0;
      assert.ok(opset >= 12, `${brick.operators.join()} of ${elementType} at opset ${opset}`);
    }
    const input = ['x', 'z'].map((name) => value(name, [4], 'int64'));
    const max = model({ input, node: [node('Max', ['x', 'z'], ['y'])], output: [value('y', [4], 'int64')] });
    const graph = layerGraph(parseModel(max, 'max'));
    assert.equal((await runBenchmark(cutBrick(graph, lastUses(graph), { first: 0, last: 0 }))).size, 1);
  });

  test('is not one in which an old operator has another meaning', () => {
    const opsetOf = (opType: string): number | undefined => {
      const [brick] = bricksOf({ opset: 6, build: (g, x) => void g.layer(opType, [x, x], [4, 4]) }, [4, 4]);
      return brick && parseModel(brick.model, 'brick').opsets.get('');
    };
    // Until opset 6, an attribute of Add says how to broadcast its second input; MatMul did not change before 9.
    assert.deepEqual([opsetOf('Add'), opsetOf('MatMul')], [6, 7]);
  });
});

describe('different bricks come from', () => {
  test('a softmax over the last of several dimensions, and over all from an axis on', () => {
    const softmax = (opset: number): Export => ({
      opset,
      build: (g, x) => void g.layer('Softmax', [x], TOKENS, [int('axis', 1)]),
    });
    assert.notDeepEqual(signaturesOf(softmax(12), TOKENS), signaturesOf(softmax(13), TOKENS));
  });

  test('a Gemm without its third input, which older opsets ask for', () => {
    const gemm = (opset: number, bias: boolean): Export => ({
      opset,
      build(g, x) {
        const third = bias ? [g.constant(floatTensor([0.5], [1]))] : [];
        g.layer('Gemm', [x, g.weight([32, 4], 32), ...third], [16, 4]);
      },
    });
    assert.notDeepEqual(signaturesOf(gemm(11, false), [16, 32]), signaturesOf(gemm(9, true), [16, 32]));
  });

  test('windows with different strides', () => {
    const pool = (stride: number): Export => ({
      opset: 17,
      build(g, x) {
        const size = Math.floor(14 / stride) + 1;
        g.layer('MaxPool', [x], [1, 8, size, size], [ints('kernel_shape', [2, 2]), ints('strides', [stride, stride])]);
      },
    });
    assert.notDeepEqual(signaturesOf(pool(1), IMAGE), signaturesOf(pool(2), IMAGE));
  });

  test('layers of element types that only the newer opset takes', () => {
    const relu = (opset: number): Export => ({ opset, build: (g, x) => void g.layer('Relu', [x], IMAGE) });
    const [older, newer] = [13, 14].map((opset) => bricksOf(relu(opset), IMAGE, 'int32')[0]?.signature);
    assert.notEqual(older, newer);
  });
});
