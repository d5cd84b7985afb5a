import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TensorValue } from '../../src/predictor/tensor-value.js';
import { readBoxes, type Detector } from '../../src/processing/boxes.js';
import { readSegments } from '../../src/processing/segments.js';

function floats(dims: readonly number[], values: readonly number[]): TensorValue {
  return { elementType: 'float32', dims, bytes: new Uint8Array(new Float32Array(values).buffer) };
}

const DETECTOR: Detector = {
  kind: 'boxes',
  format: 'xyxy',
  unit: { x: 1, y: 1 },
  scores: 'scores',
  classes: 'classes',
  threshold: 0.5,
  hasBackground: false,
};

const BOX = [0, 0, 0.5, 0.5] as const;

/** Outputs of two elements with two boxes each. */
function outputs(changes: Readonly<Record<string, TensorValue>> = {}): ReadonlyMap<string, TensorValue> {
  return new Map(
    Object.entries({
      boxes: floats([2, 2, 4], [...BOX, 0.5, 0.5, 1, 1, ...BOX, ...BOX]),
      scores: floats([2, 2], [0.6, 0.9, 0.1, 0.8]),
      classes: floats([2, 2], [1, 2, 3, 4]),
      ...changes,
    }),
  );
}

function found(given: ReadonlyMap<string, TensorValue>, changes: Partial<Detector> = {}, row = 0, rows = 2, limit = 0) {
  const detector = { ...DETECTOR, ...changes };
  return readBoxes(given, 'boxes', detector, { row, rows, limit }).map((feature) => {
    assert.ok(feature.kind === 'bounding_box');
    return [feature.index, feature.label, Number(feature.probability.toFixed(3))] as const;
  });
}

describe('boxes', () => {
  test('of each element of a batch have the highest score first, and labels if there are any', () => {
    const labels = ['', 'cat', 'dog'];
    assert.deepEqual(found(outputs(), { labels }), [
      [2, 'dog', 0.9],
      [1, 'cat', 0.6],
    ]);
    assert.deepEqual(found(outputs(), { labels }, 1), [[4, '', 0.8]]);
  });

  test('are no more than requested', () => {
    assert.equal(found(outputs(), { k: 1 }).length, 1);
    assert.equal(found(outputs(), { k: 1 }, 0, 2, 5).length, 2);
  });

  test('of a batch of one may be without the batch', () => {
    const alone = new Map([
      ['boxes', floats([1, 4], BOX)],
      ['scores', floats([1], [0.7])],
      ['classes', floats([1], [9])],
    ]);
    assert.deepEqual(found(alone, {}, 0, 1), [[9, '', 0.7]]);
    assert.throws(() => found(alone, {}, 0, 2), { code: 'unsupported', message: /ask for batch_size 1/ });
  });

  test('are only as many as the count of the model', () => {
    const count = floats([2], [1, 0]);
    assert.deepEqual(found(outputs({ count }), { count: 'count' }), [[1, '', 0.6]]);
    assert.deepEqual(found(outputs({ count }), { count: 'count' }, 1), []);
    assert.deepEqual(found(outputs({ count: floats([2], [NaN, 1e30]) }), { count: 'count' }), []);
  });

  test('with invalid corners, scores or classes are left out', () => {
    const boxes = floats([2, 2, 4], [NaN, 0, 1, 1, 0.5, 0, 0.2, 1, ...BOX, 0, 0, Infinity, 1]);
    assert.deepEqual([found(outputs({ boxes })), found(outputs({ boxes }), {}, 1)], [[], []]);
    assert.deepEqual(found(outputs({ scores: floats([2, 2], [NaN, NaN, 0, 0]) })), []);
    assert.deepEqual(found(outputs({ classes: floats([2, 2], [NaN, -1, 2 ** 40, 1]) })), []);
  });

  test('in great numbers take little time', () => {
    const count = 100_000;
    const boxes = floats([1, count, 4], Array.from({ length: count }, () => BOX).flat());
    const scores = floats([1, count], new Array<number>(count).fill(0.9));
    const classes = floats([1, count], new Array<number>(count).fill(1));
    const many = new Map([
      ['boxes', boxes],
      ['scores', scores],
      ['classes', classes],
    ]);
    assert.equal(found(many, { suppression: { iou: 1, acrossClasses: false } }, 0, 1).length, 4096);
  });

  test('of outputs that do not fit the steps are refused, with the name of the output', () => {
    const wrong = (
      changes: Readonly<Record<string, TensorValue>>,
      message: RegExp,
      detector: Partial<Detector> = {},
    ) => {
      assert.throws(() => found(outputs(changes), detector), { code: 'manifest', message });
    };
    wrong({}, /need the output masses; the model has boxes, scores, classes/, { scores: 'masses' });
    wrong(
      { boxes: floats([2, 1, 3], [0, 0, 0, 0, 0, 0]) },
      /output of boxes has the dimensions \[1, 3\]; expected four/,
    );
    wrong(
      { scores: floats([2, 1], [1, 1]) },
      /output of scores has the dimensions \[1\]; expected a number for each of 2/,
    );
    wrong({ scores: floats([2], [1, 1]) }, /output of scores/, { classes: undefined });
    const masks = floats([2, 1, 1, 1], [1, 1]);
    wrong({ masks }, /output of masks has the dimensions .*; expected a mask for box 1/, {
      masks: { masks: 'masks', threshold: 0.5 },
    });
  });
});

describe('segments', () => {
  const ALONE = { row: 0, rows: 1 } as const;
  const classesOf = (
    output: TensorValue,
    layout: 'CHW' | 'HWC' | 'map',
    place: { row: number; rows: number } = ALONE,
  ) => {
    const feature = readSegments('map', output, { kind: 'segments', layout, labels: ['sky', 'road'] }, place);
    assert.ok(feature.kind === 'semantic_segment');
    return [[...feature.mask], feature.shares.map(({ index, label, share }) => [index, label, share])];
  };

  test('have labels and shares, of each element of a batch', () => {
    const output = floats([2, 2, 1, 2], [0, 1, 5, 0, 9, 9, 1, 1]);
    assert.deepEqual(classesOf(output, 'CHW', { row: 0, rows: 2 }), [
      [1, 0],
      [
        [0, 'sky', 0.5],
        [1, 'road', 0.5],
      ],
    ]);
    assert.deepEqual(classesOf(output, 'CHW', { row: 1, rows: 2 })[0], [0, 0]);
  });

  test('of pixels without a number are -1', () => {
    assert.deepEqual(classesOf(floats([1, 2, 2], [NaN, -3, 1e20, 1.9]), 'map'), [[-1, -1, -1, 1], [[1, 'road', 0.25]]]);
    assert.deepEqual(classesOf(floats([1, 2, 1, 1], [NaN, 1]), 'CHW')[0], [1]);
  });

  test('may have a dimension for their only channel', () => {
    assert.deepEqual(classesOf(floats([1, 1, 1, 2], [0, 1]), 'map')[0], [0, 1]);
  });

  test('of other shapes, and those that are too large, are refused', () => {
    assert.throws(() => classesOf(floats([1, 2], [0, 1]), 'CHW'), {
      code: 'manifest',
      message: /output of map has .*\[1, 2\]/,
    });
    assert.throws(() => classesOf(floats([1, 0, 2], []), 'map'), { code: 'manifest', message: /expected pixels/ });
    const large = { elementType: 'uint8', dims: [1, 4097, 4096], bytes: new Uint8Array(4097 * 4096) } as const;
    assert.throws(() => classesOf(large, 'map'), { code: 'unsupported', message: /4097 x 4096 pixels is too large/ });
  });
});
