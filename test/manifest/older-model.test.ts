import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
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
        steps: { kind: 'classes', softmax: false, labels: 'fetched/example.org/labels.txt' },
      },
    ],
    dimensions: {},
    model: { graph_path: 'net.onnx', checksum: { algorithm: 'md5', digest: MD5.toLowerCase() } },
    attributes: { kind: 'CNN', top1: '56.62', sizes: '[1,2]' },
    downloads: [
      {
        kind: 'labels',
        url: 'https://example.org/labels.txt',
        path: 'fetched/example.org/labels.txt',
        checksum: undefined,
      },
    ],
    published: {
      inputs: [
        {
          type: 'image',
          description: 'the input image',
          parameters: {
            element_type: { value: 'float32' },
            input_layer: { value: '0' },
            layout: { value: 'CHW' },
            color_mode: { value: 'RGB' },
            dimensions: { value: '[3,224,224]' },
            mean: { value: '[123.675,116.280,103.530]' },
            scale: { value: '58.395' },
          },
        },
      ],
      output: {
        type: 'classification',
        description: 'the output label',
        parameters: {
          element_type: { value: 'float32' },
          probabilities_layer: { value: 'probs' },
          features_url: { value: 'https://example.org/labels.txt' },
        },
      },
      model: {
        baseUrl: '',
        graphPath: 'net.onnx',
        weightsPath: '',
        isArchive: false,
        graphChecksum: MD5.toLowerCase(),
        weightsChecksum: '',
      },
      hidden: false,
    },
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

const MD5_CHECKSUM = { algorithm: 'md5', digest: MD5.toLowerCase() };

describe('files by their addresses', () => {
  /** A manifest with another `model`, in the style of the platform's repositories. */
  function filesIn(model: string) {
    return manifestOf('model', changed(/model:[\s\S]*attributes:/, `model:\n${model}\nattributes:`));
  }

  test('a graph and weights at a base address', () => {
    const { model, downloads } = filesIn(
      `    base_url: http://store.example.org/some_net/\n    graph_path: net.json\n    weights_path: net.params\n` +
        `    graph_checksum: ${MD5}`,
    );
    const folder = 'fetched/store.example.org/some_net';
    assert.deepEqual(model, { graph_path: `${folder}/net.json`, checksum: MD5_CHECKSUM });
    assert.deepEqual(
      downloads?.map(({ kind, url, path, checksum }) => [kind, url, path, checksum]),
      [
        ['graph', 'http://store.example.org/some_net/net.json', `${folder}/net.json`, MD5_CHECKSUM],
        ['weights', 'http://store.example.org/some_net/net.params', `${folder}/net.params`, undefined],
        ['labels', 'https://example.org/labels.txt', 'fetched/example.org/labels.txt', undefined],
      ],
    );
  });

  test('a graph in an archive has no checksum of its own: the manifest may mean the archive', () => {
    const { model, downloads } = filesIn(
      `    base_url: https://example.org/a/net.tgz\n    graph_path: ./export/net.onnx\n    is_archive: true\n` +
        `    graph_checksum: ${MD5}`,
    );
    assert.deepEqual(model, { graph_path: 'fetched/example.org/a/net.tgz.files/export/net.onnx' });
    assert.deepEqual(downloads?.[0], {
      kind: 'archive',
      url: 'https://example.org/a/net.tgz',
      path: 'fetched/example.org/a/net.tgz',
      checksum: MD5_CHECKSUM,
      folder: 'fetched/example.org/a/net.tgz.files',
      graph: 'export/net.onnx',
    });
  });

  test('onnx_url is the graph where no other is named, and labels may be those of the model', () => {
    const { model, outputs } = manifestOf(
      'model',
      changed(
        /model:[\s\S]*attributes:/,
        'model:\n    onnx_url: https://example.org/net.onnx?raw=1\n' +
          '    features_path: https://example.org/synset.txt\nattributes:',
      ).replace(/ +features_url:.*\n/, ''),
    );
    assert.deepEqual(model, { graph_path: 'fetched/example.org/net.onnx_raw=1', checksum: undefined });
    assert.deepEqual(outputs[0]?.steps?.labels, 'fetched/example.org/synset.txt');
  });

  test('no address leads out of the folder of fetched files', () => {
    const { model } = filesIn('    graph_path: "https://example.org/%2e%2e/..%2f../../up//net.onnx"');
    assert.equal(model.graph_path, 'fetched/example.org/up/net.onnx');
  });

  test('a manifest may name weights alone', () => {
    const { model } = filesIn('    base_url: https://example.org/\n    weights_path: net.caffemodel');
    assert.equal(model.graph_path, undefined);
  });
});

describe('what the older platform reads over', () => {
  test('one note names all keys without effect', () => {
    const yaml = changed('license:', 'licence:')
      .replace('is_archive: false', 'is_archive: false\n    checkpoint: net.ckpt\n    model_type: caffe')
      .replace('parameters:', 'paramenters:')
      .concat('large_model: true\n');
    const { notes } = orThrow(read('model', yaml));
    assert.deepEqual(
      notes.map(formatNote).filter((note) => note.includes('no effect')),
      [
        'm.yml:14:1: licence: has no effect here and is ignored (did you mean "license"?), and so are ' +
          'inputs[0].paramenters (did you mean "parameters"?), model.checkpoint, model.model_type, large_model',
      ],
    );
  });

  test('keys without a value are as if they were not there', () => {
    const yaml = changed('probabilities_layer: probs', 'probabilities_layer:')
      .replace('is_archive: false', 'is_archive:')
      .replace('top1: 56.62', 'top1:');
    const { outputs, attributes } = manifestOf('model', yaml);
    assert.deepEqual([outputs[0]?.layer_name, Object.keys(attributes)], [0, ['kind', 'sizes']]);
  });

  test('an element type that ONNX does not have is left to the graph', () => {
    const { manifest, notes } = orThrow(read('model', changed('float32', 'floot')));
    assert.equal(manifest.inputs[0]?.element_type, undefined);
    assert.match(notes.map(formatNote).join(), /inputs\[0\]\.parameters\.element_type: "floot" is no element type/);
  });

  test('hide and hidden are the same', () => {
    for (const key of ['hide', 'hidden']) {
      assert.equal(manifestOf('model', `${CLASSIFIER}${key}: true\n`).published?.hidden, true);
    }
  });

  test('any framework will do where the manifest says so', () => {
    assert.equal(
      manifestOf('model', changed(/framework:[\s\S]*version: 1.10/, 'framework: any\nversion: 1')).framework,
      'any',
    );
  });
});

const PROBLEMS: readonly [what: string, from: string | RegExp, to: string, problem: RegExp][] = [
  [
    'an archive or not',
    'is_archive: false',
    'is_archive: 7',
    /model.is_archive: expected true or false, found the number 7/,
  ],
  ['an invalid checksum', MD5, 'abc', /model.graph_checksum: expected an MD5 .*, found "abc"/],
  ['an invalid range', '1.x', 'new', /framework.version: expected a range of versions .*, found "new"/],
  ['an invalid version', '1.10', 'one', /version: expected a version such as 1.0, found "one"/],
  ['invalid dimensions', '[3, 224, 224]', '[3, wide]', /inputs\[0\].parameters.dimensions: expected a list of dim/],
  ['an empty name', 'name: Some_Net_v1.5', 'name:', /name: expected a name, found an empty value/],
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

describe('the bounds of an older manifest', () => {
  const dimensionsOf = (dimensions: string) =>
    manifestOf('model', changed('[3, 224, 224]', dimensions)).inputs[0]?.dimensions;
  const refused = (from: string | RegExp, to: string, place: RegExp): void => {
    const problems = problemsOf('model', changed(from, to));
    assert.equal(problems.length, 1, problems.join('\n'));
    assert.match(problems.join(), place);
  };

  test('a dimension is a size of ONNX, and only the first one may be open', () => {
    assert.deepEqual(dimensionsOf('[1, 2147483647]'), [1, 2147483647]);
    assert.deepEqual(dimensionsOf('[batch, 1]'), ['batch', 1]);
    for (const dimensions of ['[1, 2147483648]', '[1, 0]', '[1, -1]', '[1, batch]', '[1, 99999999999]', '[1, 1.5]']) {
      refused('[3, 224, 224]', dimensions, /parameters\.dimensions: expected a list of dimensions/);
    }
  });

  test('there are 32 dimensions at most', () => {
    const ones = (count: number): string => `[${Array.from({ length: count }, () => 1).join()}]`;
    assert.equal(dimensionsOf(ones(32))?.length, 32);
    refused('[3, 224, 224]', ones(33), /parameters\.dimensions: expected a list of dimensions/);
  });

  test('there are 1 to 1000 inputs and outputs', () => {
    const listed = (key: string, count: number): string =>
      count === 0 ? `${key}: []\n` : `${key}:\n${'  - type: general\n'.repeat(count)}`;
    const inputs = (count: number) => changed(/inputs:[\s\S]*output:/, `${listed('inputs', count)}output:`);
    const outputs = (count: number) => changed(/output:[\s\S]*model:/, `${listed('outputs', count)}model:`);
    assert.equal(manifestOf('model', inputs(1000)).inputs.length, 1000);
    assert.equal(manifestOf('model', outputs(1000)).outputs.length, 1000);
    for (const count of [0, 1001]) {
      assert.match(problemsOf('model', inputs(count)).join(), /inputs: expected a list of at (least 1 item|most 1000)/);
      assert.match(
        problemsOf('model', outputs(count)).join(),
        /outputs: expected a list of at (least 1 item|most 1000)/,
      );
    }
  });

  test('an MD5 has 32 digits, a SHA-256 has 64', () => {
    const sha256 = 'AB'.repeat(32);
    assert.deepEqual(manifestOf('model', changed(MD5, sha256)).model.checksum, {
      algorithm: 'sha256',
      digest: sha256.toLowerCase(),
    });
    for (const digest of [MD5.slice(1), `${MD5}0`, sha256.slice(1), `${sha256}0`, MD5.replace('0', 'g')]) {
      refused(MD5, `"${digest}"`, /graph_checksum: expected an MD5 \(32 hexadecimal digits\) or SHA-256 \(64\)/);
    }
  });

  test('other names of element types are known in upper and lower case', () => {
    const names = ['Float', 'double', 'HALF', 'int', 'long', 'byte', 'FLOAT64'];
    const types = names.map((name) => manifestOf('model', changed('float32', name)).inputs[0]?.element_type);
    assert.deepEqual(types, ['float32', 'float64', 'float16', 'int32', 'int64', 'uint8', 'float64']);
  });
});

test('dimensions that are neither a list nor a text are a problem with an example', () => {
  const problems = problemsOf('model', changed('[3, 224, 224]', '{ a: 1 }'));
  assert.match(problems.join(), /dimensions: expected a list of dimensions such as \[3, 224, 224\], found a mapping/);
});

test('weights have a checksum of their own', () => {
  const yaml = changed('graph_path: net.onnx', 'graph_path: https://example.org/net.json').replace(
    'is_archive: false',
    `weights_path: https://example.org/net.params\n    weights_checksum: ${'cd'.repeat(16)}`,
  );
  const weights = manifestOf('model', yaml).downloads?.find(({ kind }) => kind === 'weights');
  assert.deepEqual(weights?.checksum, { algorithm: 'md5', digest: 'cd'.repeat(16) });
});

test('a problem of the YAML alone is a problem of the manifest', () => {
  const problems = problemsOf('model', changed('license: unrestricted', 'license: !text unrestricted'));
  assert.equal(problems.length, 1, problems.join('\n'));
  assert.match(problems.join(), /license: expected a value without a tag, found the tag "!text"/);
});

test('repeated keys are read as in the original platform, with a note for each', () => {
  const repeated = `${CLASSIFIER}version: 2.1\nattributes:\n    top5: 80\n    kind: RNN\n`;
  const result = read('model', repeated);
  assert.ok(result.ok);
  assert.equal(result.manifest.version, '2.1.0');
  assert.deepEqual(result.manifest.attributes, { kind: 'RNN', top1: '56.62', sizes: '[1,2]', top5: '80' });
  const notes = result.notes.map(formatNote).filter((note) => note.includes('the key is repeated; its last value'));
  assert.deepEqual(
    notes.map((note) => /: (\S+): the key/.exec(note)?.[1]),
    ['version', 'attributes'],
  );
});

test('other manifests have every key once', () => {
  assert.match(problemsOf('model', `dlspec: model/v1\nname: a\nname: b\n`).join(), /name: expected every key once/);
});
