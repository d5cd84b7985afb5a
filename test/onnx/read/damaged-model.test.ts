import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BinaryWriter } from '@bufbuild/protobuf/wire';
import fc from '../../support/property.js';
import { PlatformError } from '../../../src/base/errors.js';
import { AttributeProto_AttributeType as AttributeType } from '../../../src/generated/onnx/onnx.js';
import { bufferSource } from '../../../src/onnx/bytes/byte-source.js';
import { budgetOfOne } from '../../../src/onnx/bytes/reading-budget.js';
import { stripPayloads } from '../../../src/onnx/bytes/strip-payloads.js';
import { parseModel } from '../../../src/onnx/read/read-model.js';
import { encodeModelToBytes } from '../../../src/onnx/write/write-model.js';
import {
  float,
  floats,
  fn,
  graph,
  graphAttribute,
  integers,
  model,
  node,
  pipeline,
  reference,
  tensor,
  tensorAttribute,
  value,
} from '../protos.js';

/** A small model that contains all kinds of elements. */
function seed(): Uint8Array {
  const branch = graph({
    node: [node('Add', ['h', 'k'], ['r'])],
    initializer: [floats('k', [1])],
    output: [value('r', [1, 4])],
  });
  const nodes = [
    node('double', ['x'], ['h'], [float('by', 2)], { domain: 'local' }),
    node('Constant', [], ['c'], [tensorAttribute('value', floats('', [1, 2, 3, 4]))]),
    node('If', ['cond'], ['b'], [graphAttribute('then_branch', branch), graphAttribute('else_branch', branch)]),
    node('Reshape', ['b', 'shape'], ['r']),
    node('Add', ['r', 'c'], ['y'], [], { name: 'last' }),
  ];
  return model(
    {
      node: nodes,
      input: [value('x', ['N', 4]), value('cond', [], 'bool')],
      output: [value('y', [1, 4])],
      valueInfo: [value('h', ['N', ''])],
      initializer: [
        integers('shape', [1n, 4n]),
        tensor('list', 'int64', [2], { int64Data: [1n, -1n] }),
        tensor('words', 'string', [1], { stringData: [Buffer.from('a')] }),
      ],
    },
    {
      functions: [fn('double', { input: ['a'], output: ['b'], node: [node('Add', ['a', 'a'], ['b'])] })],
      opsetImport: [
        { domain: '', version: 17n },
        { domain: 'local', version: 1n },
      ],
    },
  );
}

/** Reads the bytes and, if that succeeds, writes the model again. Only a PlatformError may be thrown. */
function survives(bytes: Uint8Array): void {
  try {
    encodeModelToBytes(parseModel(bytes, 'm.onnx'));
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    assert.match(error.message, /^m\.onnx[^]*\.$/);
  }
}

describe('a damaged model is either readable or refused with a clear message', () => {
  const original = seed();
  test('the undamaged one is readable', () => assert.equal(parseModel(original, 'm.onnx').graph.nodes.length, 4));

  test('truncated anywhere', () => {
    for (let length = 0; length < original.length; length++) survives(original.subarray(0, length));
  });

  test('with any one byte at an extreme', () => {
    for (let i = 0; i < original.length; i++) {
      for (const byte of [0, 1, 0x7f, 0x80, 0xff]) {
        const bytes = original.slice();
        bytes[i] = byte;
        survives(bytes);
      }
    }
  });

  const position = fc.nat(original.length - 1);
  const mutation = fc.oneof(
    fc.record({ kind: fc.constant('set'), at: position, bytes: fc.uint8Array({ minLength: 1, maxLength: 4 }) }),
    fc.record({ kind: fc.constant('insert'), at: position, bytes: fc.uint8Array({ minLength: 1, maxLength: 12 }) }),
    fc.record({ kind: fc.constant('remove'), at: position, bytes: fc.uint8Array({ minLength: 1, maxLength: 12 }) }),
  );
  test('with random changes', { timeout: 300_000 }, () => {
    fc.assert(
      fc.property(fc.array(mutation, { minLength: 1, maxLength: 4 }), (mutations) => {
        let bytes = Buffer.from(original);
        for (const { kind, at, bytes: change } of mutations) {
          const kept = kind === 'insert' ? 0 : change.length;
          const put = kind === 'remove' ? [] : [change];
          bytes = Buffer.concat([bytes.subarray(0, at), ...put, bytes.subarray(at + kept)]);
        }
        survives(bytes);
      }),
      { numRuns: 3000 },
    );
  });

  test('random bytes', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), survives), { numRuns: 1000 });
  });
});

describe('a hostile model', () => {
  const field = (number: number, content: Uint8Array): Uint8Array =>
    new BinaryWriter().tag(number, 2).bytes(content).finish();
  const start = new BinaryWriter().tag(1, 0).int64(8).finish();
  const wholeModel = (graphBytes: Uint8Array): Uint8Array => Buffer.concat([start, field(7, graphBytes)]);
  const refused = (bytes: Uint8Array, pattern: RegExp): void =>
    assert.throws(() => parseModel(bytes, 'm.onnx'), { name: 'PlatformError', code: 'model', message: pattern });

  test('nested without end', () => {
    let graphBytes: Uint8Array = new Uint8Array();
    for (let i = 0; i < 2000; i++) graphBytes = field(1, field(5, field(6, graphBytes)));
    refused(wholeModel(graphBytes), /nested more than 100 deep/);
  });
  test('a length beyond the file', () => {
    refused(
      Buffer.concat([start, [0x3a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f]].map((part) => Buffer.from(part))),
      /the file ends/,
    );
  });
  test('a length beyond the message around it', () => {
    refused(Buffer.concat([wholeModel(Uint8Array.of(0x0a, 50)), Buffer.alloc(100)]), /the message around them ends/);
  });
  test('a number that does not end', () => {
    refused(Buffer.concat([start, Buffer.alloc(20, 0xff)]), /more than ten bytes/);
  });
  test('a list that would take gigabytes decoded', () => {
    const ints = field(1, field(5, field(8, new Uint8Array(40 * 2 ** 20))));
    refused(wholeModel(ints), /would take more than 768 MiB/);
  });
  test('millions of nodes without content, which are counted while they are read', () => {
    const bytes = wholeModel(Buffer.alloc(6_000_000).map((_, i) => (i % 2 === 0 ? 0x0a : 0)));
    refused(bytes, /more than 524288 nodes/);
    const block = 4096;
    let furthest = 0;
    const inBlocks = {
      ...bufferSource('m.onnx', bytes),
      window: (offset: number): Uint8Array => bytes.subarray(offset, (furthest = offset + block)),
    };
    assert.throws(() => stripPayloads(inBlocks, budgetOfOne()), /more than 524288 nodes/);
    assert.ok(furthest < 2 * 2 ** 19 + 2 * block, `read up to byte ${furthest}`);
  });
  test('millions of weights without content', () => {
    refused(
      wholeModel(Buffer.alloc(6_000_000).map((_, i) => (i % 2 === 0 ? 0x2a : 0))),
      /would take more than 768 MiB/,
    );
  });
  /** A chain of `nodes` nodes in the innermost of `depth` nested branches. */
  const branches = (depth: number, nodes: number): Uint8Array => {
    const names = Array.from({ length: nodes }, (_, i) => `v${i}`);
    let inner = graph({
      node: names.map((name, i) => node('Relu', [names[i - 1] ?? 'x'], [name])),
      output: [value(names.at(-1) ?? '')],
    });
    for (let i = 1; i < depth; i++) {
      const attributes = ['then_branch', 'else_branch'].map((name, j) =>
        graphAttribute(name, j === 0 ? inner : graph({})),
      );
      inner = graph({ node: [node('If', ['c'], [`b${i}`], attributes)], output: [value(`b${i}`)] });
    }
    return pipeline([node('If', ['c'], ['y'], [graphAttribute('then_branch', inner)])], {
      input: [value('x', [1, 4]), value('c', [], 'bool')],
    });
  };
  test('branches that are nested deeper than in any real model', () => {
    assert.equal(parseModel(branches(16, 2), 'm.onnx').graph.nodes.length, 1);
    refused(branches(17, 2), /subgraphs are nested more than 16 deep/);
  });
  test('a hundred thousand nodes that count once for each of the graphs around them', () => {
    refused(branches(10, 100_000), /more than 524288 nodes/);
  });
  test('functions that put a given graph into nested branches', () => {
    const given = graphAttribute('g', graph({ node: [node('Relu', ['x'], ['s'])], output: [value('s')] }));
    const passedOn = (name: string, from: string) => reference(name, from, AttributeType.GRAPH);
    const functions = Array.from({ length: 9 }, (_, i) => {
      const inside = graph({
        node: [
          i === 8
            ? node('If', ['c'], ['o'], [passedOn('then_branch', 'g')])
            : node(`f${i + 1}`, ['c'], ['o'], [passedOn('g', 'g')], { domain: 'local' }),
        ],
        output: [value('o')],
      });
      const branch = graphAttribute(
        'then_branch',
        graph({ node: [node('If', ['c'], ['p'], [graphAttribute('then_branch', inside)])], output: [value('p')] }),
      );
      return fn(`f${i}`, { input: ['c'], output: ['b'], attribute: ['g'], node: [node('If', ['c'], ['b'], [branch])] });
    });
    const bytes = model(
      {
        node: [node('f0', ['c'], ['y'], [given], { domain: 'local' })],
        input: [value('x', [1, 4]), value('c', [], 'bool')],
        output: [value('y')],
      },
      {
        functions,
        opsetImport: [
          { domain: '', version: 17n },
          { domain: 'local', version: 1n },
        ],
      },
    );
    refused(bytes, /subgraphs are nested more than 16 deep/);
  });
  test('a name with control characters is escaped', () => {
    const bytes = pipeline([node('Add', ['x', 'bad\u001b[31m\nname'], ['y'])]);
    refused(bytes, /"bad\\u001b\[31m\\nname"/);
  });
});
