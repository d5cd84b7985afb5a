import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PlatformError } from '../../src/base/errors.js';
import { dimensionExpression } from '../../src/onnx/layers/dimension-expression.js';
import { buildZooModel, CLASSICS, ZOO, zooEntry } from '../../src/zoo/zoo.js';

test('the zoo has the well-known architectures by their names', () => {
  assert.deepEqual(
    CLASSICS.map(({ name }) => name),
    [
      'alexnet',
      'vgg16',
      'vgg19',
      'squeezenet1.1',
      'resnet18',
      'resnet34',
      'resnet50',
      'resnet101',
      'inception_v1',
      'inception_v3',
      'densenet121',
      'densenet169',
      'mobilenet_v2',
      'bert_base',
      'gpt2',
      'distilgpt2',
      'vit_b_16',
    ],
  );
});

/** Models whose head is a copy of their word table. */
const HEADS_OF_WORD_TABLES = /^(distil)?gpt2$|^llama_(0\.1|1|3)b|_(small|tiny)_decoder$/;

for (const { name, dimensions } of ZOO) {
  describe(name, () => {
    const model = buildZooModel(name);
    const { graph } = model;
    const produced = graph.nodes.flatMap((node) => node.outputs);

    test('says where it comes from', () => {
      assert.equal(model.source, `zoo:${name}`);
    });

    test('every value has a type, and the default dimensions bind every symbol', () => {
      for (const value of [...graph.inputs, ...produced]) {
        const dims = graph.types.get(value)?.dims;
        assert.ok(dims !== undefined, `${value} has no shape`);
        const symbols = dims.filter((dim) => typeof dim === 'string');
        const names = symbols.flatMap((symbol) => dimensionExpression(symbol)?.names ?? [symbol]);
        const unbound = names.filter((dim) => !Object.hasOwn(dimensions, dim));
        assert.deepEqual(unbound, [], value);
      }
      assert.equal(graph.types.size, graph.inputs.length + produced.length);
    });

    test('layers come after what they read', () => {
      // An optional input that is left out has no name.
      const known = new Set(['', ...graph.inputs, ...graph.initializers.keys()]);
      for (const node of graph.nodes) {
        for (const input of node.inputs) assert.ok(known.has(input), `${node.name} reads ${input} too early`);
        for (const output of node.outputs) known.add(output);
      }
      for (const output of graph.outputs) assert.ok(known.has(output), output);
    });

    test('the batch is free in every input and output', () => {
      for (const value of [...graph.inputs, ...graph.outputs]) {
        assert.equal(graph.types.get(value)?.dims?.[0], 'batch', value);
      }
    });

    test('no layer computes a shape', () => {
      const sizes = graph.nodes.filter(({ opType }) => opType === 'Shape' || opType === 'Size');
      assert.deepEqual(sizes, []);
    });

    test('no weight is in memory, only constants of formulas', () => {
      for (const { data } of graph.initializers.values()) {
        assert.ok(data.kind === 'fill' || (data.kind === 'inline' && data.bytes.length < 2 ** 17), data.kind);
      }
    });

    test('weights differ from each other, and not from one build to the next', () => {
      const seeds = (built: typeof model): number[] =>
        [...built.graph.initializers.values()].flatMap(({ data }) => (data.kind === 'fill' ? [data.fill.seed] : []));
      const tied = HEADS_OF_WORD_TABLES.test(name) ? 1 : 0;
      assert.equal(new Set(seeds(model)).size, seeds(model).length - tied);
      assert.deepEqual(seeds(model), seeds(buildZooModel(name)));
    });
  });
}

describe('an unknown name', () => {
  function failure(name: string): PlatformError {
    try {
      zooEntry(name);
    } catch (thrown) {
      if (thrown instanceof PlatformError) return thrown;
    }
    return assert.fail('no PlatformError');
  }

  test('is not found, and the message names the command that lists the others', () => {
    const { code, message } = failure('nasnet');
    assert.equal(code, 'not_found');
    assert.match(message, /'mlmodelscope registry models' lists all \d+\./);
  });

  for (const [typed, meant] of [
    ['resnet-50', 'resnet50'],
    ['MobileNetV2', 'mobilenet_v2'],
    ['squeezenet1_1', 'squeezenet1.1'],
    ['bert', 'bert_base'],
  ] as const) {
    test(`${typed} gets a suggestion`, () => {
      assert.ok(failure(typed).message.includes(`Did you mean ${meant}?`), failure(typed).message);
    });
  }

  test('a hostile name gives a short and printable message', () => {
    const { message } = failure(`../../\u001b[31m${'x'.repeat(1_000_000)}`);
    assert.ok(message.length < 600);
    assert.doesNotMatch(message, /\u001b/);
  });
});
