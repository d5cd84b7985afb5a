import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { formatNote, orThrow } from '../../src/manifest/problem.js';
import { manifestOf, read } from './read-manifest.js';

function yamlOf(input: string, output = '', more = ''): string {
  return `
name: Some_Net
framework: { name: Onnxruntime, version: 1.x }
version: 1.0
inputs:
  - { type: image, parameters: { element_type: float32, dimensions: [3, 200, 100], ${input} } }
output: { type: classification, parameters: { ${output} } }
model: { graph_path: net.onnx }
${more}`;
}

function inputOf(parameters: string) {
  const [input] = manifestOf('model', yamlOf(parameters)).inputs;
  return input;
}

describe('the parameters of an older manifest are steps', () => {
  test('its texts and lists of numbers', () => {
    const steps = inputOf('mean: "[1.5, 2, 3]", scale: [4, 5, 6.5], color_mode: BGR, layout: CHW')?.steps;
    assert.deepEqual(steps, {
      colorMode: 'BGR',
      geometry: [{ operator: 'resize', height: 200, width: 100, method: 'bilinear' }],
      mean: [1.5, 2, 3],
      scale: [4, 5, 6.5],
      layout: 'CHW',
    });
  });

  test('nothing said is nothing done', () => {
    const { mean, scale, layout, colorMode } = inputOf('input_layer: 0')?.steps ?? {};
    assert.deepEqual([mean, scale, layout, colorMode], [[0, 0, 0], [1, 1, 1], 'CHW', 'RGB']);
  });

  test('a mapping where a number is expected is a reason, not a failure', () => {
    for (const written of ['[{ a: 1 }]', '{ a: 1 }', '[1, [2], 3]']) {
      const { notes } = orThrow(read('model', yamlOf(`mean: ${written}`)));
      assert.match(notes.map(formatNote).join('\n'), /mean is neither one number nor three/, written);
    }
  });

  test('pixels together: the tensor has the channels last, as the manifest does not say', () => {
    const input = inputOf('layout: HWC');
    assert.deepEqual(input?.dimensions, ['batch', 200, 100, 3]);
    assert.equal(input?.steps?.layout, 'HWC');
  });

  test('a share of the picture comes first', () => {
    assert.deepEqual(inputOf('crop_ratio: 0.875, crop_method: topleft')?.steps?.geometry, [
      { operator: 'crop', ratio: 0.875, anchor: 'top_left' },
      { operator: 'resize', height: 200, width: 100, method: 'bilinear' },
    ]);
  });

  test('a kept aspect ratio', () => {
    assert.deepEqual(inputOf('min_dimension: 256, keep_aspect_ratio: true')?.steps?.geometry, [
      { operator: 'resize', shorterSide: 256, method: 'bilinear' },
      { operator: 'crop', height: 200, width: 100, anchor: 'center' },
    ]);
  });

  test('classes, with labels where they are in a file', () => {
    const stepsOf = (output: string) => manifestOf('model', yamlOf('', output)).outputs[0]?.steps;
    assert.deepEqual(stepsOf('probabilities_transform: softmax, features_url: synset.txt'), {
      kind: 'classes',
      softmax: true,
      labels: 'synset.txt',
    });
    assert.deepEqual(stepsOf('features_url: https://example.org/synset.txt'), {
      kind: 'classes',
      softmax: false,
      labels: 'fetched/example.org/synset.txt',
    });
  });
});

describe('where the parameters do not say how, there are no steps, and a note says why', () => {
  const cases: readonly [string, RegExp][] = [
    ['mean: [1, 2]', /mean is neither one number nor three/],
    ['scale: 0', /scale is 0/],
    ['color_mode: CMYK', /color_mode is not one of RGB, BGR/],
    ['layout: WHC', /layout is not one of CHW, HWC/],
    ['max_dimension: 600', /max_dimension/],
    ['min_dimension: 100, keep_aspect_ratio: true', /min_dimension is less than the input/],
  ];
  for (const [parameters, reason] of cases) {
    test(parameters, () => {
      const { manifest, notes } = orThrow(read('model', yamlOf(parameters)));
      assert.equal(manifest.inputs[0]?.steps, undefined);
      assert.match(notes.map(formatNote).join('\n'), reason);
    });
  }

  test('code decides, and is not run', () => {
    const { manifest, notes } = orThrow(
      read('model', yamlOf('', '', 'preprocess: import os\npostprocess: import os\n')),
    );
    assert.deepEqual([manifest.inputs[0]?.steps, manifest.outputs[0]?.steps], [undefined, undefined]);
    assert.equal(notes.length, 2);
  });
});
