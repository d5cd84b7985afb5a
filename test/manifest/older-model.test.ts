import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatNote, orThrow } from '../../src/manifest/problem.js';
import { manifestOf, problemsOf, read } from './read-manifest.js';

const MD5 = '0123456789abcdef0123456789ABCDEF';

/** The shape of the platform's builtin_models: unquoted versions, comments, free parameters. */
const CLASSIFIER = `
name: Some_Net_v1.5 # name of the model
framework:
    name: Onnxruntime
    version: 1.x # framework version constraint
version: 1.10 # version information in semantic version format
container:
    amd64:
        cpu: example/agent:amd64-cpu
description: >
    A network.
references:
    - https://example.org/paper
license: unrestricted
inputs:
    - type: image
      description: the input image
      parameters:
          element_type: float32
          input_layer: 0
          layout: CHW
          color_mode: RGB
          dimensions: [3, 224, 224]
          mean: [123.675, 116.280, 103.530]
          scale: 58.395
output:
    type: classification
    description: the output label
    parameters:
        element_type: float32
        probabilities_layer: probs
        features_url: https://example.org/labels.txt
model:
    graph_path: net.onnx
    is_archive: false
    graph_checksum: ${MD5}
attributes:
    kind: CNN
    top1: 56.62
    sizes: [1, 2]
`;

function changed(from: string | RegExp, to: string): string {
  const yaml = CLASSIFIER.replace(from, to);
  assert.notEqual(yaml, CLASSIFIER);
  return yaml;
}

test('an older manifest becomes one of today', () => {
  assert.deepEqual(manifestOf('model', CLASSIFIER), {
    dlspec: 'model/v1',
    name: 'Some_Net_v1.5',
    written: { version: '1.10', framework: 'Onnxruntime' },
    version: '1.10.0',
    description: 'A network.\n',
    task: undefined,
    license: 'unrestricted',
    references: ['https://example.org/paper'],
    framework: { name: 'onnxruntime', version: '1.x' },
    inputs: [
      {
        layer_name: 0,
        element_type: 'float32',
        dimensions: ['batch', 3, 224, 224],
        steps: {
          colorMode: 'RGB',
          geometry: [{ operator: 'resize', height: 224, width: 224, method: 'bilinear' }],
          mean: [123.675, 116.28, 103.53],
          scale: [58.395, 58.395, 58.395],
          layout: 'CHW',
        },
      },
    ],
    outputs: [
      {
        layer_name: 'probs',
        element_type: 'float32',
        dimensions: undefined,
        steps: { kind: 'classes', softmax: false },
      },
    ],
    dimensions: {},
    model: { graph_path: 'net.onnx', checksum: { algorithm: 'md5', digest: MD5.toLowerCase() } },
    attributes: { kind: 'CNN', top1: '56.62', sizes: '[1,2]' },
  });
});

test('parameters may be texts', () => {
  const manifest = manifestOf(
    'model',
    changed('[3, 224, 224]', '"[1,3,224,224]"').replace('_layer: 0', '_layer: "data"'),
  );
  const [{ steps, ...input } = { steps: undefined }] = manifest.inputs;
  assert.deepEqual(input, { layer_name: 'data', element_type: 'float32', dimensions: [1, 3, 224, 224] });
  assert.deepEqual(steps?.geometry, [{ operator: 'resize', height: 224, width: 224, method: 'bilinear' }]);
});

test('a first dimension that is left open is the batch', () => {
  const manifest = manifestOf('model', changed('[3, 224, 224]', '[-1, 384]'));
  assert.deepEqual(manifest.inputs[0]?.dimensions, ['batch', 384]);
});

test('the newer list of outputs loads, and an output of several layers is several', () => {
  const outputs =
    'outputs:\n  - {type: boundingbox, parameters: {boxes_layer: 0, classes_layer: 1}}\n  - {type: text}\nmodel:';
  const manifest = manifestOf('model', changed(/output:[\s\S]*model:/, outputs));
  assert.deepEqual(
    manifest.outputs.map(({ layer_name }) => layer_name),
    [0, 1, 1],
  );
});

test('inputs without parameters load', () => {
  const manifest = manifestOf('model', changed(/inputs:[\s\S]*output:/, 'inputs:\n  - type: general\noutput:'));
  assert.deepEqual(manifest.inputs, [{ layer_name: 0, element_type: undefined, dimensions: undefined }]);
});

test('code is left out with a note where it is', () => {
  const { manifest, notes } = orThrow(read('model', `${CLASSIFIER}preprocess: |\n  import os\n  os.system('x')\n`));
  assert.doesNotMatch(JSON.stringify(manifest), /os\.system/);
  const line = CLASSIFIER.split('\n').length;
  assert.deepEqual(notes.map(formatNote), [`m.yml:${line}:13: preprocess: this code is never run; inputs are made up`]);
});

const PROBLEMS: readonly [what: string, from: string | RegExp, to: string, problem: RegExp][] = [
  ['an address', 'net.onnx', 'https://example.org/net.onnx', /model.graph_path: expected .*files are not downloaded/],
  ['a base address', 'is_archive: false', 'base_url: http://example.org/', /model.base_url: expected .*not downloaded/],
  [
    'an archive',
    'is_archive: false',
    'is_archive: true',
    /model.is_archive: expected false .*, found the boolean true/,
  ],
  ['an invalid checksum', MD5, 'abc', /model.graph_checksum: expected an MD5 .*, found "abc"/],
  ['an invalid range', '1.x', 'new', /framework.version: expected a range of versions .*, found "new"/],
  ['an invalid version', '1.10', 'one', /version: expected a version such as 1.0, found "one"/],
  ['invalid dimensions', '[3, 224, 224]', '[3, wide]', /inputs\[0\].parameters.dimensions: expected a list of dim/],
  ['an unknown element type', 'float32', 'floot', /inputs\[0\].parameters.element_type: expected an element type/],
  ['an unknown key', 'license:', 'licence:', /licence: expected a known key, .*did you mean "license"/],
];

for (const [what, from, to, problem] of PROBLEMS) {
  test(`problem: ${what}`, () => {
    const problems = problemsOf('model', changed(from, to));
    assert.equal(problems.length, 1, problems.join('\n'));
    assert.match(problems.join(), problem);
  });
}

test("a DLSpec manifest without its header gets a message, and is not taken for an older one's", () => {
  const inputs = 'inputs: [{layer_name: x, element_type: float32, dimensions: [1]}]';
  assert.match(problemsOf('model', `name: a\n${inputs}\n`).join('\n'), /dlspec: expected "model\/v1", found nothing/);
});
