import assert from 'node:assert/strict';
import { test } from 'node:test';
import { symbolBindings } from '../../src/manifest/model.js';
import { manifestOf, problemsOf } from './read-manifest.js';

const SHA256 = 'AB'.repeat(32);

interface Parts {
  readonly inputs?: string;
  readonly dimensions?: string;
  readonly model?: string;
}

function yamlOf({ inputs = '[batch, 3]', dimensions = '{}', model = '{graph_path: zoo:a}' }: Parts): string {
  return [
    'dlspec: model/v1',
    'name: a',
    'version: 1.0.0',
    'framework: {name: onnxruntime, version: ^1.20}',
    `inputs: [{layer_name: x, element_type: float32, dimensions: ${inputs}}]`,
    'outputs: [{layer_name: y, element_type: float32, dimensions: [batch, found]}]',
    `dimensions: ${dimensions}`,
    `model: ${model}`,
  ].join('\n');
}

test('inputs and outputs keep sizes and symbols', () => {
  const { inputs, outputs } = manifestOf('model', yamlOf({ inputs: '[batch, s, 3]', dimensions: '{s: 128}' }));
  assert.deepEqual(inputs, [{ layer_name: 'x', element_type: 'float32', dimensions: ['batch', 's', 3] }]);
  assert.deepEqual(
    outputs[0]?.dimensions,
    ['batch', 'found'],
    'an output may have dimensions that are known only after a run',
  );
});

test('the batch size binds batch, the manifest everything else', () => {
  const manifest = manifestOf('model', yamlOf({ dimensions: '{s: 128}' }));
  assert.deepEqual(Object.fromEntries(symbolBindings(manifest, 4)), { s: 128, batch: 4 });
});

test('a symbol of an input that nothing binds is a problem', () => {
  assert.deepEqual(problemsOf('model', yamlOf({ inputs: '[batch, s]', dimensions: '{t: 1}' })), [
    'm.yml:5:69: inputs[0].dimensions[1]: expected a whole number, or a name that is bound under dimensions (batch, t), found "s"',
  ]);
});

test('an expression of bound symbols is bound', () => {
  assert.deepEqual(problemsOf('model', yamlOf({ inputs: '[batch, past + 1]', dimensions: '{past: 1}' })), []);
  assert.match(
    problemsOf('model', yamlOf({ inputs: '[batch, past + s]', dimensions: '{past: 1}' })).join(),
    /bound under dimensions \(batch, past\), found "past \+ s"/,
  );
});

test('an unbound symbol is found beside other problems', () => {
  const problems = problemsOf('model', yamlOf({ inputs: '[s]' }).replace('name: a\n', ''));
  assert.equal(problems.length, 2);
});

test('batch is not for a model to bind', () => {
  assert.match(
    problemsOf('model', yamlOf({ dimensions: '{batch: 1}' })).join(),
    /7:14: dimensions.batch: expected no batch/,
  );
});

test('a negative dimension is a problem, an empty one is a size', () => {
  assert.deepEqual(problemsOf('model', yamlOf({ inputs: '[batch, 0]' })), []);
  assert.match(
    problemsOf('model', yamlOf({ inputs: '[batch, -1]' })).join(),
    /expected a whole number.*, found the number -1/,
  );
});

test('an unknown element type is a problem', () => {
  const yaml = yamlOf({}).replace('float32', 'float');
  assert.match(
    problemsOf('model', yaml).join(),
    /inputs\[0\].element_type: expected an element type .*, found "float"/,
  );
});

test('two inputs of one name are a problem', () => {
  const input = '{layer_name: x, element_type: float32, dimensions: [1]}';
  const yaml = yamlOf({}).replace(/^inputs.*$/m, `inputs: [${input}, ${input}]`);
  assert.match(problemsOf('model', yaml).join(), /inputs\[1\].layer_name: expected every layer once, found "x"/);
});

test('a file has the checksum that the manifest states, in lower case', () => {
  const { model } = manifestOf('model', yamlOf({ model: `{graph_path: a.onnx, checksum: ${SHA256}}` }));
  assert.deepEqual(model, { graph_path: 'a.onnx', checksum: { algorithm: 'sha256', digest: SHA256.toLowerCase() } });
});

const WRONG_SOURCES: readonly [what: string, model: string, problem: RegExp][] = [
  [
    'a file without checksum',
    '{graph_path: a.onnx}',
    /model.checksum: expected the SHA-256 of the file, found nothing/,
  ],
  ['a zoo model with one', `{graph_path: zoo:a, checksum: ${SHA256}}`, /model.checksum: expected no checksum/],
  [
    'a short checksum',
    '{graph_path: a.onnx, checksum: abc}',
    /expected the SHA-256 .* 64 hexadecimal digits, found "abc"/,
  ],
  [
    'an address',
    `{graph_path: "https://a/b.onnx", checksum: ${SHA256}}`,
    /\(files are not downloaded\), found "https:/,
  ],
  ['an unknown zoo name', '{graph_path: "zoo:../a"}', /model.graph_path: expected .* zoo:NAME, found "zoo:\.\.\/a"/],
];

for (const [what, model, problem] of WRONG_SOURCES) {
  test(`problem: ${what}`, () => {
    assert.match(problemsOf('model', yamlOf({ model })).join('\n'), problem);
  });
}

test('a tensor has 32 dimensions at most', () => {
  const ones = (count: number): string => `[${Array.from({ length: count }, () => 1).join()}]`;
  assert.deepEqual(problemsOf('model', yamlOf({ inputs: ones(32) })), []);
  assert.match(
    problemsOf('model', yamlOf({ inputs: ones(33) })).join(),
    /dimensions: expected a list of at most 32 items/,
  );
});

test('a checksum is a whole SHA-256', () => {
  const problems = (checksum: string): readonly string[] =>
    problemsOf('model', yamlOf({ model: `{graph_path: a.onnx, checksum: "${checksum}"}` }));
  assert.deepEqual(problems(SHA256), []);
  for (const checksum of [SHA256.slice(1), `${SHA256}0`, `g${SHA256}`, `${SHA256}g`]) {
    assert.match(
      problems(checksum).join(),
      /model.checksum: expected the SHA-256 of the file as 64 hexadecimal digits/,
    );
  }
});

test('dimensions that are not sizes are a problem, and no input is reported as unbound then', () => {
  const problems = problemsOf('model', yamlOf({ inputs: '[batch, s]', dimensions: '{s: many}' }));
  assert.equal(problems.length, 1, problems.join('\n'));
  assert.match(problems.join(), /dimensions\.s: expected a whole number/);
  const others = problemsOf('model', yamlOf({ inputs: '[batch, s]', dimensions: '5' }));
  assert.equal(others.length, 1, others.join('\n'));
  assert.match(others.join(), /dimensions: expected a mapping/);
});

test('a name has 100 characters at most', () => {
  const named = (name: string): readonly string[] =>
    problemsOf('model', yamlOf({}).replace('name: a', `name: ${name}`));
  assert.deepEqual(named('a'.repeat(100)), []);
  assert.match(named('a'.repeat(101)).join(), /name: expected a name of at most 100 letters/);
});
