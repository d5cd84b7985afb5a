import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { manifestOf, problemsOf } from './read-manifest.js';

const STEPS = `
      - decode: { color_mode: BGR }
      - resize: { shorter_side: 256 }
      - crop: { height: 224, width: 200 }
      - normalize: { mean: [1, 2, 3], scale: 4 }
      - layout: HWC`;

const CLASSES = `
      - softmax: {}
      - top_k: { k: 5, labels: labels.txt }`;

function yamlOf(
  steps = STEPS,
  dimensions = '[batch, 224, 200, 3]',
  classes = CLASSES,
  elementType = 'float32',
): string {
  return `
dlspec: model/v1
name: m
version: 1.0.0
framework: { name: onnxruntime, version: ^1.20 }
inputs:
  - layer_name: x
    element_type: ${elementType}
    dimensions: ${dimensions}
    steps: ${steps}
outputs:
  - layer_name: y
    element_type: float32
    dimensions: [batch, 10]
    steps: ${classes}
model: { graph_path: zoo:m }
`;
}

test('steps say how a picture becomes an input, and an output classes', () => {
  const { inputs, outputs } = manifestOf('model', yamlOf());
  assert.deepEqual(inputs[0]?.steps, {
    colorMode: 'BGR',
    geometry: [
      { operator: 'resize', shorterSide: 256, method: 'bilinear' },
      { operator: 'crop', height: 224, width: 200, anchor: 'center' },
    ],
    mean: [1, 2, 3],
    scale: [4, 4, 4],
    layout: 'HWC',
  });
  assert.deepEqual(outputs[0]?.steps, { kind: 'classes', softmax: true, k: 5, labels: 'labels.txt' });
});

test('what is not said is the usual', () => {
  const { inputs, outputs } = manifestOf(
    'model',
    yamlOf('[{ decode: {} }, { resize: { height: 9, width: 8, method: bicubic } }]', '[1, 3, 9, 8]', '[{ top_k: {} }]'),
  );
  assert.deepEqual(inputs[0]?.steps, {
    colorMode: 'RGB',
    geometry: [{ operator: 'resize', height: 9, width: 8, method: 'bicubic' }],
    mean: [0, 0, 0],
    scale: [1, 1, 1],
    layout: 'CHW',
  });
  assert.deepEqual(outputs[0]?.steps, { kind: 'classes', softmax: false });
});

describe('problems, each with its place', () => {
  const D = '{ decode: {} }';
  const R = '{ resize: { height: 9, width: 8 } }';
  const N = '{ normalize: { mean: 1 } }';
  const cases: readonly [string, string, RegExp][] = [
    ['no decode', `[${R}]`, /inputs\[0\].steps\[0\]: expected decode, then resize/],
    ['decode later', `[${D}, ${R}, ${D}]`, /inputs\[0\].steps\[2\]: expected decode, then/],
    ['normalize twice', `[${D}, ${R}, ${N}, ${N}]`, /inputs\[0\].steps\[3\]: expected decode, then/],
    ['two operators in one', `[${D}, { layout: CHW, normalize: {} }]`, /steps\[1\]: expected exactly one operator/],
    [
      'an unknown operator',
      `[${D}, { rezise: {} }]`,
      /steps\[1\].rezise: expected a known key, .*did you mean "resize"/,
    ],
    ['code', `[${D}, { python: "import os" }]`, /steps\[1\].python: expected/],
    [
      'two kinds of size',
      `[${D}, { resize: { height: 9, width: 8, shorter_side: 7 } }]`,
      /resize: expected height and/,
    ],
    ['half a size', `[${D}, { crop: { height: 9 } }]`, /crop: expected height and width, or ratio alone/],
    [
      'a gigantic size',
      `[${D}, { resize: { height: 99999, width: 9 } }]`,
      /height: expected a whole number from 1 to 16384/,
    ],
    ['a scale of 0', `[${D}, ${R}, { normalize: { scale: 0 } }]`, /scale: expected a number/],
    ['two means', `[${D}, ${R}, { normalize: { mean: [1, 2] } }]`, /normalize.mean/],
    [
      'a size that depends',
      `[${D}, { resize: { shorter_side: 9 } }]`,
      /inputs\[0\].steps: expected a resize or crop to height/,
    ],
    ['nothing', '[]', /inputs\[0\].steps: expected a list of at least 1 item/],
  ];
  for (const [name, steps, problem] of cases) {
    test(name, () => assert.match(problemsOf('model', yamlOf(steps, '[batch, 3, 9, 8]')).join('\n'), problem));
  }

  test('dimensions other than the steps make', () => {
    const problems = problemsOf('model', yamlOf(STEPS, '[batch, 3, 224, 224]'));
    assert.match(problems.join('\n'), /inputs\[0\].dimensions: expected \[batch, 224, 200, 3\], as the steps make it/);
  });

  test('an element type that pictures are not made', () => {
    const problems = problemsOf('model', yamlOf(STEPS, '[batch, 224, 200, 3]', CLASSES, 'int64'));
    assert.match(problems.join('\n'), /inputs\[0\].element_type: expected uint8, float16, float32/);
  });

  test('softmax last', () => {
    const problems = problemsOf('model', yamlOf(STEPS, undefined, '[{ top_k: {} }, { softmax: {} }]'));
    assert.match(
      problems.join('\n'),
      /outputs\[0\].steps: expected top_k, after row and softmax where there are any; boxes, .*; or segments/,
    );
  });

  test('labels from elsewhere', () => {
    const problems = problemsOf('model', yamlOf(STEPS, undefined, '[{ top_k: { labels: "http://example.org/l" } }]'));
    assert.match(problems.join('\n'), /top_k.labels: expected the path of a text file .*nothing is downloaded/);
  });
});
