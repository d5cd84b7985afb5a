import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { buildWholeBenchmark, decompose } from '../../../../plugins/dlbricks/bricks/decompose.js';
import type { MeasurableBrick } from '../../../../plugins/dlbricks/bricks/brick-copies.js';
import { CLASS_VALUES, valueClasses } from '../../../../src/onnx/layers/value-classes.js';
import { parseModel } from '../../../../src/onnx/read/read-model.js';
import { ELEMENT_TYPES } from '../../../../src/onnx/model/element-type.js';
import { floats, int, integers, model, node, tensor, value } from '../../../onnx/protos.js';
import { SYSTEM } from '../../../store/sample-measurement.js';
import { createFakeAgent } from '../../../support/fake-agent.js';
import { loadedChain } from '../support/chain-model.js';
import { maskedAttention } from '../support/hard-to-measure.js';

const SHAPE = [8, 64];

/** Numbers that a mask does not hide; no brick may have them. */
const SECRET = 0.123456;

function classesOf(bytes: Uint8Array): ReadonlyMap<string, string> {
  return valueClasses(parseModel(bytes, 'm').graph);
}

async function bricksOf(bytes: Uint8Array): Promise<ReadonlyMap<string, MeasurableBrick>> {
  const loaded = { ...loadedChain('m'), model: parseModel(bytes, 'm') };
  const agent = createFakeAgent({ latencyOf: () => 1 });
  const { signal } = new AbortController();
  const { decomposed } = await decompose(loaded, { cut: 'layer', runOptions: SYSTEM.runOptions }, agent, signal);
  return new Map(decomposed.bricks.map((brick) => [brick.operators.join(), brick]));
}

/** What a model gives a Softmax whose result a product reads. */
function beforeSoftmax(mask: readonly number[], nodes = [node('Add', ['x', 'mask'], ['scores'])]): Uint8Array {
  return model({
    input: [value('x', SHAPE), value('hidden', SHAPE, 'bool'), value('visible', SHAPE)],
    node: [...nodes, node('Softmax', ['scores'], ['shares']), node('MatMul', ['shares', 'w'], ['y'])],
    initializer: [
      floats('mask', [...mask], mask.length === 1 ? [] : [1, mask.length]),
      floats('w', new Array<number>(128).fill(1), [64, 2]),
      floats('one', [1], []),
      floats('zero', [0], []),
      integers('places', [0n, 1n, 2n]),
      integers('axis', [1n]),
      integers('shape', SHAPE.map(BigInt)),
    ],
    output: [value('y', [8, 2])],
    valueInfo: ['scores', 'shares'].map((name) => value(name, SHAPE)),
  });
}

const half = (hidden: number): number[] => Array.from({ length: 64 }, (_, at) => (at % 2 === 0 ? SECRET : hidden));

describe('values that decide how fast kernels are', () => {
  test('are masks whose exponential is denormal, and what a Softmax makes of them', () => {
    const masked = classesOf(beforeSoftmax(half(-100)));
    assert.deepEqual(Object.fromEntries(masked), { mask: 'mask', scores: 'mask', shares: 'denormal' });
    for (const hidden of [-50, 0]) assert.equal(classesOf(beforeSoftmax(half(hidden))).size, 0);
    const one = classesOf(beforeSoftmax([...Array.from({ length: 99 }, () => 0), -100]));
    assert.equal(one.size, 0, 'too few to be seen in a time');
    assert.equal(classesOf(beforeSoftmax(Array.from({ length: 64 }, () => -100))).size, 0, 'a Softmax does not see it');
  });

  test('are masks whose exponential is zero, whose Softmax is slow, but not its result', () => {
    for (const hidden of [-104, -10_000, -3.4e38, -Infinity]) {
      const classes = classesOf(beforeSoftmax(half(hidden)));
      assert.deepEqual(Object.fromEntries(classes), { mask: 'hidden', scores: 'hidden' }, String(hidden));
    }
    const bothKinds = half(-100).map((number, at) => (at < 16 ? -10_000 : number));
    assert.equal(classesOf(beforeSoftmax(bothKinds)).get('shares'), 'denormal');
    assert.equal(classesOf(beforeSoftmax(Array.from({ length: 64 }, () => -10_000))).size, 0, 'nothing differs');
  });

  test('follow from a causal condition and one number, and not from a condition that may be true everywhere', () => {
    const scores = (condition: Parameters<typeof beforeSoftmax>[1] = [], ...last: readonly string[]) => {
      const [opType = '', ...inputs] = last;
      const made = [...condition, node(opType, inputs, ['bias']), node('Add', ['x', 'bias'], ['scores'])];
      return classesOf(beforeSoftmax([-10_000], made)).get('scores');
    };
    const lower = node('Trilu', ['visible'], ['lower'], [int('upper', 0)]);
    const places = node('Unsqueeze', ['places', 'axis'], ['column']);
    const later = node('Greater', ['places', 'column'], ['later']);
    const earlier = node('Not', ['later'], ['earlier']);
    const both = node('And', ['later', 'hidden'], ['both']);
    assert.equal(scores([lower, node('Sub', ['one', 'lower'], ['upper'])], 'Mul', 'upper', 'mask'), 'hidden');
    assert.equal(scores([places, later, both], 'Where', 'both', 'mask', 'zero'), 'hidden');
    assert.equal(scores([places, later, earlier], 'Where', 'earlier', 'zero', 'mask'), 'hidden');
    assert.equal(scores([node('Expand', ['mask', 'shape'], ['all'])], 'Trilu', 'all'), 'hidden');
    assert.equal(scores([], 'Where', 'hidden', 'mask', 'zero'), undefined);
    assert.equal(scores([node('Sub', ['one', 'visible'], ['upper'])], 'Mul', 'upper', 'mask'), undefined);
  });

  test('may come from one number, as where an exporter fills what a condition hides', () => {
    const first = 'shifted';
    const second = 'wide';
    const third = 'scores';
    const filled = [
      node('Where', ['hidden', 'mask', 'x'], [first]),
      node('Transpose', [first], [second]),
      node('Transpose', [second], [third]),
    ];
    assert.equal(classesOf(beforeSoftmax([-100], filled)).get('shares'), 'denormal');
    assert.equal(classesOf(beforeSoftmax([-100])).get('shares'), undefined, 'all scores are lower');
  });

  test('are in a whole model what they are in its bricks: a large condition hides half, also by a learned number', () => {
    const condition = (name: string) =>
      tensor(name, 'bool', [32, 64], { rawData: Uint8Array.from({ length: 2048 }, (_, at) => at % 2) });
    const bytes = model({
      input: [value('x', [32, 64])],
      node: [
        node('Not', ['later'], ['earlier']),
        node('Where', ['earlier', 'x', 'low'], ['scores']),
        node('Where', ['other', 'scores', 'x'], ['mixed']),
        node('Softmax', ['mixed'], ['y']),
      ],
      initializer: [condition('later'), condition('other'), floats('low', [-9876.5], [])],
      output: [value('y', [32, 64])],
    });
    const parsed = { model: parseModel(bytes, 'm') } as Parameters<typeof buildWholeBenchmark>[0];
    const fills = new Map(buildWholeBenchmark(parsed, {}).inputs.map(({ name, fill }) => [name, fill]));
    assert.equal(valueClasses(parsed.model.graph).get('mixed'), 'hidden');
    const values = ['later', 'low', 'other'].map((name) => {
      const { low, high, list = [low, high] } = fills.get(name) ?? {};
      return [...new Set(list)];
    });
    assert.deepEqual(values, [[1, 0], [-1000], [1]], 'what hides nothing stays as it is');
  });

  test('are denormal constants', () => {
    assert.equal(classesOf(beforeSoftmax(half(1e-40))).get('mask'), 'denormal');
  });

  test('are in the bricks whose time they decide, and change no other signature', async () => {
    const plain = await bricksOf(maskedAttention(1, 0));
    const masked = await bricksOf(maskedAttention(1, -100));
    const changed = [...plain].filter(([label, { signature }]) => masked.get(label)?.signature !== signature);
    assert.deepEqual(
      changed.map(([label]) => label),
      ['MatMul', 'Softmax'],
    );
    const givenTo = (label: string): unknown =>
      masked.get(label)?.inputs.map(({ isGiven, fill }) => isGiven && fill.list);
    assert.deepEqual(givenTo('Softmax'), [CLASS_VALUES.mask.list]);
    assert.deepEqual(givenTo('MatMul'), [CLASS_VALUES.denormal.list, undefined]);
    assert.deepEqual(givenTo('Add'), [undefined, undefined]);
  });

  test('are in no product after a mask whose exponential is zero', async () => {
    const plain = await bricksOf(maskedAttention(1, 0));
    const masked = await bricksOf(maskedAttention(1, -10_000));
    const changed = [...plain].filter(([label, { signature }]) => masked.get(label)?.signature !== signature);
    assert.deepEqual(
      changed.map(([label]) => label),
      ['Softmax'],
    );
    assert.deepEqual(
      masked.get('Softmax')?.inputs.map(({ fill }) => fill.list),
      [CLASS_VALUES.hidden.list],
    );
  });

  test('are in the bricks that read a constant with them', async () => {
    const bricks = await bricksOf(beforeSoftmax(half(1e-40)));
    assert.deepEqual(
      bricks.get('Add')?.inputs.map(({ fill }) => fill.list),
      [undefined, CLASS_VALUES.denormal.list],
    );
  });

  test('never have the numbers of the file', async () => {
    const bytes = beforeSoftmax(half(-98.7654));
    const whole = buildWholeBenchmark(
      { model: parseModel(bytes, 'm') } as Parameters<typeof buildWholeBenchmark>[0],
      {},
    );
    const { array } = ELEMENT_TYPES.float32;
    for (const { model: file, inputs } of [whole, ...(await bricksOf(bytes)).values()]) {
      for (const number of [SECRET, -98.7654]) {
        assert.equal(Buffer.from(file).indexOf(Buffer.from(new array([number]).buffer)), -1);
        assert.ok(inputs.every(({ fill: { low, high, list = [] } }) => ![low, high, ...list].includes(number)));
      }
    }
    const mask = whole.inputs.find(({ name }) => name === 'mask');
    assert.deepEqual(mask?.fill.list, CLASS_VALUES.mask.list);
  });
});
