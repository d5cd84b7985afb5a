import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import {
  AttributeProto_AttributeType as AttributeType,
  type FunctionProto,
  type NodeProto,
} from '../../../src/generated/onnx/onnx.js';
import { budgetOfOne } from '../../../src/onnx/bytes/reading-budget.js';
import { FunctionTable } from '../../../src/onnx/functions/function-table.js';
import { inlineFunctions } from '../../../src/onnx/functions/inline-functions.js';
import { parseModel, readModel } from '../../../src/onnx/read/read-model.js';
import { loadModel } from '../../../src/registry/load-model.js';
import { encodeModelToBytes } from '../../../src/onnx/write/write-model.js';
import { float, fn, graph, graphAttribute, ints, model, node, reference, value } from '../protos.js';
import { bool, float32, runModel } from '../run-model.js';
import { withTemporaryFolder } from '../temporary-folder.js';

const call = (name: string, input: string[], output: string[], attributes = [] as NodeProto['attribute']): NodeProto =>
  node(name, input, output, attributes, { domain: 'local' });

function withFunctions(nodes: NodeProto[], functions: FunctionProto[], inputs = [value('x', [1, 4])]): Uint8Array {
  const opsetImport = [
    { domain: '', version: 17n },
    { domain: 'local', version: 1n },
  ];
  return model({ node: nodes, input: inputs, output: [value('y', [1, 4])] }, { opsetImport, functions });
}

/** LeakyRelu with a slope that the caller may give. */
const leaky = fn('leaky', {
  input: ['a'],
  output: ['b'],
  attributeProto: [float('slope', 0.5)],
  node: [node('LeakyRelu', ['a'], ['b'], [reference('alpha', 'slope', AttributeType.FLOAT)])],
});

async function resultOf(bytes: Uint8Array): Promise<number[] | undefined> {
  const written = encodeModelToBytes(parseModel(bytes, 'm.onnx'));
  return (await runModel(written, { x: float32([-4, -2, 2, 4]) })).y;
}

test('a call is replaced by the body, with names of its own', () => {
  const twice = fn('twice', {
    input: ['a'],
    output: ['b'],
    node: [node('Relu', ['a'], ['h']), node('Neg', ['h'], ['b'])],
  });
  const bytes = withFunctions([call('twice', ['x'], ['h']), call('twice', ['h'], ['y'])], [twice]);
  const { graph: read, opsets } = parseModel(bytes, 'm.onnx');
  assert.deepEqual(
    read.nodes.map(({ opType }) => opType),
    ['Relu', 'Neg', 'Relu', 'Neg'],
  );
  assert.equal(new Set(read.nodes.flatMap(({ outputs }) => outputs)).size, 4);
  assert.deepEqual([...opsets.keys()], ['']);
});

test('new names differ from those of the graph, whatever they begin with', () => {
  const inner = fn('inner', {
    input: ['a'],
    output: ['b'],
    node: [node('Relu', ['a'], ['h']), node('Neg', ['h'], ['b'])],
  });
  for (const taken of ['call0/h', 'call_0/h', '_0/h', '0/h']) {
    const bytes = withFunctions([node('Abs', ['x'], [taken]), call('inner', [taken], ['y'])], [inner]);
    const names = parseModel(bytes, 'm.onnx').graph.nodes.flatMap(({ outputs }) => outputs);
    assert.equal(new Set(names).size, 3, taken);
  }
});

describe('parameters', () => {
  test('the call gives a value', async () => {
    const bytes = withFunctions([call('leaky', ['x'], ['y'], [float('slope', 0.25)])], [leaky]);
    assert.deepEqual(await resultOf(bytes), [-1, -0.5, 2, 4]);
  });
  test('the function has a default', async () => {
    assert.deepEqual(await resultOf(withFunctions([call('leaky', ['x'], ['y'])], [leaky])), [-2, -1, 2, 4]);
  });
  test('without either, the operator uses its own default', async () => {
    const own = fn('own', { ...leaky, name: 'own', attributeProto: [], attribute: ['slope'] });
    const result = await resultOf(withFunctions([call('own', ['x'], ['y'])], [own]));
    assert.deepEqual(
      result?.map((x) => Number(x.toFixed(3))),
      [-0.04, -0.02, 2, 4],
    );
  });
  test('a parameter reaches a function that is called inside, and a Constant', async () => {
    const outer = fn('outer', {
      input: ['a'],
      output: ['c'],
      attribute: ['k'],
      node: [
        call('leaky', ['a'], ['b'], [reference('slope', 'k', AttributeType.FLOAT)]),
        node('Constant', [], ['one'], [reference('value_float', 'k', AttributeType.FLOAT)]),
        node('Add', ['b', 'one'], ['c']),
      ],
    });
    const bytes = withFunctions([call('outer', ['x'], ['y'], [float('k', 0.25)])], [outer, leaky]);
    assert.deepEqual(await resultOf(bytes), [-0.75, -0.25, 2.25, 4.25]);
  });
});

test('an optional input that the call leaves out is absent inside', async () => {
  const clip = fn('clip', {
    input: ['a', 'low', 'high'],
    output: ['b'],
    node: [node('Clip', ['a', 'low', 'high'], ['b'])],
  });
  assert.deepEqual(await resultOf(withFunctions([call('clip', ['x'], ['y'])], [clip])), [-4, -2, 2, 4]);
});

test('an output that the call leaves out is still computed if another output needs it', async () => {
  const pair = fn('pair', {
    input: ['a'],
    output: ['b', 'c'],
    node: [node('Neg', ['a'], ['b']), node('Abs', ['b'], ['c'])],
  });
  assert.deepEqual(await resultOf(withFunctions([call('pair', ['x'], ['', 'y'])], [pair])), [4, 2, 2, 4]);
});

test('functions inside of subgraphs, and subgraphs inside of functions, are inlined', async () => {
  const branch = (slopeOf: string) =>
    graph({
      node: [call('leaky', ['v'], ['r'], [reference('slope', slopeOf, AttributeType.FLOAT)])],
      output: [value('r')],
    });
  const choose = fn('choose', {
    input: ['cond', 'v'],
    output: ['o'],
    attribute: ['p', 'q'],
    opsetImport: [
      { domain: '', version: 17n },
      { domain: 'local', version: 1n },
    ],
    node: [
      node(
        'If',
        ['cond'],
        ['o'],
        [graphAttribute('then_branch', branch('p')), graphAttribute('else_branch', branch('q'))],
      ),
    ],
  });
  const bytes = withFunctions(
    [call('choose', ['c', 'x'], ['y'], [float('p', 0.5), float('q', 0.25)])],
    [choose, leaky],
    [value('x', [1, 4]), value('c', [], 'bool')],
  );
  const written = encodeModelToBytes(parseModel(bytes, 'm.onnx'));
  const x = float32([-4, -2, 2, 4]);
  assert.deepEqual((await runModel(written, { x, c: bool(true) })).y, [-2, -1, 2, 4]);
  assert.deepEqual((await runModel(written, { x, c: bool(false) })).y, [-1, -0.5, 2, 4]);
});

test('names in the model that look like generated names do not collide with them', () => {
  const bytes = withFunctions(
    [node('Relu', ['x'], ['call0/h']), call('twice', ['call0/h'], ['y'])],
    [fn('twice', { input: ['a'], output: ['b'], node: [node('Relu', ['a'], ['h']), node('Neg', ['h'], ['b'])] })],
  );
  assert.equal(parseModel(bytes, 'm.onnx').graph.nodes.length, 3);
});

describe('a function that cannot be inlined is refused by name', () => {
  const wrong: [what: string, functions: FunctionProto[], pattern: RegExp][] = [
    [
      'it calls itself',
      [fn('f', { input: ['a'], output: ['b'], node: [call('f', ['a'], ['b'])] })],
      /"f".*calls itself/,
    ],
    [
      'it has another opset',
      [fn('f', { ...leaky, name: 'f', opsetImport: [{ domain: '', version: 13n }] })],
      /opset 13 of ai\.onnx.*uses 17/,
    ],
    ['it has too few inputs', [fn('f', { ...leaky, name: 'f', input: [] })], /takes 0 inputs/],
    ['it returns its input', [fn('f', { input: ['a'], output: ['a'] })], /two inputs or outputs of the same name/],
    ['it makes no output', [fn('f', { input: ['a'], output: ['b'] })], /no node that makes its output "b"/],
    ['there are two of the same name', [leaky, leaky], /defines a function twice/],
    [
      'it doubles at every level',
      Array.from({ length: 40 }, (_, i) => {
        const next =
          i === 39
            ? (a: string, b: string) => node('Relu', [a], [b])
            : (a: string, b: string) => call(`f${i}`, [a], [b]);
        return fn(i === 0 ? 'f' : `f${i - 1}`, { input: ['a'], output: ['b'], node: [next('a', 'h'), next('h', 'b')] });
      }),
      /call each other so often/,
    ],
    [
      'its values are repeated at every level',
      Array.from({ length: 12 }, (_, i) => {
        const axes = ints('axes', new Array<number>(10_000).fill(1));
        const next = (a: string, b: string) =>
          i === 11 ? node('Relu', [a], [b], [axes]) : call(`f${i}`, [a], [b], []);
        return fn(i === 0 ? 'f' : `f${i - 1}`, { input: ['a'], output: ['b'], node: [next('a', 'h'), next('h', 'b')] });
      }),
      /call each other so often/,
    ],
    [
      'a long name is repeated at every level',
      Array.from({ length: 12 }, (_, i) => {
        const next = (a: string, b: string) =>
          i === 11 ? { ...node('Relu', [a], [b]), name: 'n'.repeat(80_000) } : call(`f${i}`, [a], [b], []);
        return fn(i === 0 ? 'f' : `f${i - 1}`, { input: ['a'], output: ['b'], node: [next('a', 'h'), next('h', 'b')] });
      }),
      /call each other so often/,
    ],
    [
      'it is called too deep',
      Array.from({ length: 51 }, (_, i) => {
        const inner = i === 50 ? node('Relu', ['a'], ['b']) : call(`f${i}`, ['a'], ['b']);
        return fn(i === 0 ? 'f' : `f${i - 1}`, { input: ['a'], output: ['b'], node: [inner] });
      }),
      /"f49".*more than 50 levels deep/,
    ],
  ];
  test('a graph that is passed on doubles at every level', { timeout: 60_000 }, () => {
    const last = fn('f25', { input: ['a'], output: ['b'], attribute: ['g'], node: [node('Relu', ['a'], ['b'])] });
    const levels = Array.from({ length: 25 }, (_, i) => {
      const inner = reference('then_branch', 'g', AttributeType.GRAPH);
      const twice = graph({
        node: [node('If', [], ['p'], [inner]), node('If', [], ['q'], [inner])],
        output: [value('q')],
      });
      return fn(`f${i}`, {
        input: ['a'],
        output: ['b'],
        attribute: ['g'],
        node: [call(`f${i + 1}`, ['a'], ['b'], [graphAttribute('g', twice)])],
      });
    });
    const seed = graphAttribute('g', graph({ node: [node('Relu', ['x'], ['s'])], output: [value('s')] }));
    const bytes = withFunctions([call('f0', ['x'], ['y'], [seed])], [...levels, last]);
    assert.throws(() => parseModel(bytes, 'm.onnx'), {
      name: 'PlatformError',
      message: /nested more than 16 deep/,
    });
  });

  test('calls nest subgraphs too deep', () => {
    const levels = Array.from({ length: 40 }, (_, i) => {
      const inner = i === 39 ? node('Relu', ['a'], ['h']) : call(`f${i + 1}`, ['a'], ['h']);
      const branch = graphAttribute('then_branch', graph({ node: [inner], output: [value('h')] }));
      return fn(`f${i}`, { input: ['a'], output: ['b'], node: [node('If', ['a'], ['b'], [branch])] });
    });
    const bytes = withFunctions([call('f0', ['x'], ['y'])], levels);
    assert.throws(() => parseModel(bytes, 'm.onnx'), {
      name: 'PlatformError',
      message: /nested more than 16 deep/,
    });
  });

  for (const [what, functions, pattern] of wrong) {
    test(what, { timeout: 60_000 }, () => {
      const bytes = withFunctions([call('f', ['x'], ['y'])], functions);
      assert.throws(() => parseModel(bytes, 'm.onnx'), { name: 'PlatformError', message: pattern });
    });
  }
});

test('other work may run between the calls of functions, and an interrupt ends the reading', async () => {
  const nodes = [call('leaky', ['x'], ['h']), call('leaky', ['h'], ['y'])];
  const steps = inlineFunctions(new FunctionTable([leaky], 'm'), graph({ node: nodes }), new Map(), budgetOfOne());
  assert.equal([...steps].length, 2);
  await withTemporaryFolder(async (folder) => {
    const path = join(folder, 'm.onnx');
    await writeFile(path, withFunctions(nodes, [leaky]));
    const signal = AbortSignal.abort();
    await assert.rejects(readModel(path, { signal }), { code: 'cancelled' });
    await assert.rejects(loadModel(path, { batch: 1, signal }), { code: 'cancelled' });
  });
});
