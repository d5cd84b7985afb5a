import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import fc from '../../support/property.js';
import type { ElementType } from '../../../src/onnx/model/element-type.js';
import type { Model, Tensor } from '../../../src/onnx/model/model.js';
import { parseModel, readModel } from '../../../src/onnx/read/read-model.js';
import { encodeModel, encodeModelToBytes } from '../../../src/onnx/write/write-model.js';
import { floats, graph, graphAttribute, int, integers, node, pipeline, tensorAttribute, value } from '../protos.js';
import { bool, float32, runModel } from '../run-model.js';
import { withTemporaryFolder } from '../temporary-folder.js';

/** A model whose only node casts a constant to the float32 output y. */
function castOf(constant: Tensor): Model {
  const cast = { name: '', opType: 'Cast', domain: '', inputs: ['w'], outputs: ['y'], attributes: [int('to', 1)] };
  return {
    source: 'made',
    irVersion: 8,
    opsets: new Map([['', 17]]),
    graph: {
      name: 'cast',
      nodes: [cast],
      inputs: [],
      outputs: ['y'],
      initializers: new Map([['w', constant]]),
      types: new Map([['y', { elementType: 'float32', dims: constant.dims }]]),
    },
  };
}

test('given values are in the file, or the hash of a long list', () => {
  const type = { elementType: 'float32', dims: [70_000] } as const;
  const withList = (list: readonly number[]): string => {
    const made = castOf({ ...type, data: { kind: 'fill', fill: { low: 0, high: 1, seed: 1 } } });
    const given = new Map([['x', { low: 0, high: 9, list }]]);
    const types = new Map([...made.graph.types, ['x', type]]);
    const bytes = encodeModelToBytes({ ...made, graph: { ...made.graph, inputs: ['x'], types, given } });
    return Buffer.from(bytes.subarray(0, 4096)).toString('latin1');
  };
  assert.ok(withList([3, 1, 4]).includes('3 1 4'));
  const long = Array.from({ length: 70_000 }, (_, at) => at % 10);
  assert.match(withList(long), /SHA-256 [0-9a-f]{64}/);
  assert.equal(withList(long), withList([...long]));
  assert.notEqual(withList(long), withList([...long.slice(1), 5]));
});

describe('the runtime loads written models', () => {
  const values: [ElementType, Uint8Array, number[]][] = [
    ['float32', new Uint8Array(Float32Array.of(1.5, -2).buffer), [1.5, -2]],
    ['float64', new Uint8Array(Float64Array.of(1.5, -2).buffer), [1.5, -2]],
    ['float16', Uint8Array.of(0x00, 0x3e, 0x00, 0xc0), [1.5, -2]],
    ['int64', new Uint8Array(BigInt64Array.of(3n, -4n).buffer), [3, -4]],
    ['int32', new Uint8Array(Int32Array.of(3, -4).buffer), [3, -4]],
    ['int8', Uint8Array.of(3, 0xfc), [3, -4]],
    ['uint8', Uint8Array.of(3, 0xfc), [3, 252]],
    ['bool', Uint8Array.of(1, 0), [1, 0]],
  ];
  for (const [elementType, bytes, expected] of values) {
    test(`${elementType} values`, async () => {
      const model = castOf({ elementType, dims: [2], data: { kind: 'inline', bytes } });
      assert.deepEqual((await runModel(encodeModelToBytes(model))).y, expected);
    });
  }

  for (const elementType of ['float32', 'float64', 'float16', 'int64', 'int32', 'int8', 'uint8', 'bool'] as const) {
    test(`made ${elementType} values lie in their range`, async () => {
      const fill = { low: 0, high: 1, seed: 7 };
      const model = castOf({ elementType, dims: [100, 100], data: { kind: 'fill', fill } });
      const y = (await runModel(encodeModelToBytes(model))).y ?? [];
      assert.equal(y.length, 10_000);
      assert.ok(Math.min(...y) >= 0 && Math.max(...y) <= 1);
      assert.ok(new Set(y).size > 1);
    });
  }

  test('an If and its branches', async () => {
    const branch = (opType: string) => graph({ node: [node(opType, ['x'], ['b'])], output: [value('b', [1, 4])] });
    const attributes = [graphAttribute('then_branch', branch('Neg')), graphAttribute('else_branch', branch('Abs'))];
    const input = [value('x', [1, 4]), value('c', [], 'bool')];
    const bytes = encodeModelToBytes(parseModel(pipeline([node('If', ['c'], ['y'], attributes)], { input }), 'm.onnx'));
    const x = float32([-1, 2, -3, 4]);
    assert.deepEqual((await runModel(bytes, { x, c: bool(true) })).y, [1, -2, 3, -4]);
    assert.deepEqual((await runModel(bytes, { x, c: bool(false) })).y, [1, 2, 3, 4]);
  });

  test('a Loop with weights in its body', async () => {
    const body = graph({
      input: [value('i', [], 'int64'), value('cond', [], 'bool'), value('state', [1, 4])],
      initializer: [floats('step', [1, 2, 3, 4], [1, 4])],
      node: [node('Identity', ['cond'], ['again']), node('Add', ['state', 'step'], ['next'])],
      output: [value('again', [], 'bool'), value('next', [1, 4])],
    });
    const nodes = [node('Loop', ['trips', '', 'x'], ['y'], [graphAttribute('body', body)])];
    const bytes = pipeline(nodes, { initializer: [integers('trips', [3n], [])] });
    const written = encodeModelToBytes(parseModel(bytes, 'm.onnx'));
    assert.deepEqual((await runModel(written, { x: float32([0, 0, 0, 1]) })).y, [3, 6, 9, 13]);
  });
});

test('a constant and an input may themselves be outputs', async () => {
  const nodes = [node('Constant', [], ['c'], [tensorAttribute('value', floats('', [1, 2, 3, 4], [1, 4]))])];
  const bytes = pipeline(nodes, { output: [value('c', [1, 4]), value('x', [1, 4])] });
  const results = await runModel(encodeModelToBytes(parseModel(bytes, 'm.onnx')), { x: float32([5, 6, 7, 8]) });
  assert.deepEqual(results, { c: [1, 2, 3, 4], x: [5, 6, 7, 8] });
});

test('weights are copied from their file, also weights larger than one block', () =>
  withTemporaryFolder(async (folder) => {
    const values = Array.from({ length: 400_000 }, (_, i) => i);
    const path = join(folder, 'm.onnx');
    const bytes = pipeline([node('Op', ['x', 'w'], ['y'])], { initializer: [floats('w', values)] });
    await writeFile(path, bytes);
    const model = await readModel(path);
    assert.equal(model.graph.initializers.get('w')?.data.kind, 'file');
    const written = parseModel(encodeModelToBytes(model), 'again').graph.initializers.get('w')?.data;
    assert.equal(written?.kind, 'inline');
    assert.deepEqual(new Float32Array(written.bytes.slice().buffer), Float32Array.from(values));
  }));

test('a weight whose file is missing gives a clear error', () => {
  const data = { kind: 'file', path: 'gone.bin', offset: 0, byteLength: 8 } as const;
  const model = castOf({ elementType: 'float32', dims: [2], data });
  assert.throws(() => encodeModelToBytes(model), { name: 'PlatformError', message: /gone\.bin.*Put the file back/ });
});

test('the announced size is the size of the written bytes', () => {
  const fill = { low: -1, high: 1, seed: 1 };
  const { byteLength, chunks } = encodeModel(
    castOf({ elementType: 'float16', dims: [333, 333], data: { kind: 'fill', fill } }),
  );
  let bytes = 0;
  for (const chunk of chunks) bytes += chunk.length;
  assert.equal(bytes, byteLength);
});

describe('a model that is read, written and read again', () => {
  /** Random graphs: each node reads earlier values or weights, in any order in the file. */
  const anyGraph = fc
    .array(
      fc.record({ picks: fc.array(fc.nat(99), { minLength: 1, maxLength: 3 }), kind: fc.nat(3), rank: fc.nat(1000) }),
      {
        minLength: 1,
        maxLength: 12,
      },
    )
    .map((specs) => {
      const nodes = specs.map(({ picks, kind }, i) => {
        const names = picks.map((pick) =>
          pick % (i + 2) === i + 1 ? `w${pick % 3}` : pick % (i + 2) === 0 ? 'x' : `v${(pick % (i + 2)) - 1}`,
        );
        if (kind === 0) return node('Constant', [], [`v${i}`], [tensorAttribute('value', floats('t', [i]))]);
        return node(`Op${kind}`, names, [`v${i}`], kind === 1 ? [int('k', i)] : []);
      });
      const output = [value(`v${specs.length - 1}`, ['N', 4])];
      const initializer = [floats('w0', [0]), integers('w1', [1n]), floats('w2', [2])];
      const shuffled = nodes.map((proto, i) => ({ proto, rank: specs[i]?.rank ?? 0 })).sort((a, b) => a.rank - b.rank);
      return pipeline(
        shuffled.map(({ proto }) => proto),
        {
          input: [value('x', ['N', 4])],
          output,
          initializer,
          valueInfo: nodes.map((_, i) => value(`v${i}`, ['N', ''])),
        },
      );
    });

  test('is the same', () => {
    fc.assert(
      fc.property(anyGraph, (bytes) => {
        const once = parseModel(bytes, 'm.onnx');
        assert.deepEqual(parseModel(encodeModelToBytes(once), 'm.onnx'), once);
      }),
    );
  });
});
