import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ValueInfoProto } from '../../../src/generated/onnx/onnx.js';
import { bindDimensions, boundDimensions } from '../../../src/onnx/layers/bind-dimensions.js';
import type { Dimension } from '../../../src/onnx/model/model.js';
import { parseModel } from '../../../src/onnx/read/read-model.js';
import { node, pipeline, value } from '../protos.js';

function modelWith(input: ValueInfoProto[], valueInfo: ValueInfoProto[] = [], output = [value('y')]) {
  const names = input.map(({ name }) => name);
  return parseModel(
    pipeline([node('Sum', names, ['h']), node('Relu', ['h'], ['y'])], { input, output, valueInfo }),
    'm.onnx',
  );
}

function bound(
  inputs: readonly (readonly Dimension[])[],
  bindings: Readonly<Record<string, number>>,
  batch: number,
): readonly (readonly Dimension[] | undefined)[] {
  const model = modelWith(inputs.map((dims, i) => value(`x${i}`, dims)));
  const { types, inputs: names } = bindDimensions(model, new Map(Object.entries(bindings)), { batch }).graph;
  return names.map((name) => types.get(name)?.dims);
}

describe('sizes', () => {
  test('a symbol takes its binding', () => assert.deepEqual(bound([['N', 'T']], { T: 7, N: 2 }, 1), [[2, 7]]));
  test('the first dimension is the batch', () => assert.deepEqual(bound([['whatever', 3]], {}, 8), [[8, 3]]));
  test('also where it has no name', () => assert.deepEqual(bound([['', 3]], {}, 8), [[8, 3]]));
  test('a size of 0 is possible', () => assert.deepEqual(bound([['N', 'past']], { past: 0 }, 1), [[1, 0]]));
  test('an expression is computed from the dimensions in it, in any input', () => {
    const inputs = [
      ['N', 'past'],
      ['N', 'past + 1'],
      ['N', '(8*hh + 1)//2', 'hh'],
      ['N*heads', 'heads', 'past - 1'],
    ];
    assert.deepEqual(bound(inputs, { past: 3, hh: 2, heads: 12 }, 2), [
      [2, 3],
      [2, 4],
      [2, 8, 2],
      [24, 12, 2],
    ]);
  });
  test('a name with an operator in it is a name', () => {
    assert.deepEqual(bound([['N', 'dim-1', 'C++']], { 'dim-1': 5, 'C++': 6 }, 1), [[1, 5, 6]]);
  });
  test('a name in 32 pairs of brackets is an expression, and one in more is a name', () => {
    const nested = (depth: number): string => `${'('.repeat(depth)}past${')'.repeat(depth)}`;
    // A name in the first place is that of the batch.
    assert.deepEqual(bound([[nested(32), 'past'], [nested(33)], ['* * past']], { past: 3 }, 2), [[3, 3], [2], [2]]);
  });
  test('of the dimensions that inputs leave open are listed, each once', () => {
    const open = modelWith([value('x', ['N', 'T', 4]), value('z', ['', 'T', 'T + 1'])], [value('h', ['N', 'inner'])]);
    assert.deepEqual(boundDimensions(open, bindDimensions(open, new Map([['T', 3]]), { batch: 2 })), [
      { name: 'N', size: 2 },
      { name: 'T', size: 3 },
      { name: 'T + 1', size: 4 },
    ]);
    assert.deepEqual(boundDimensions(open, open), []);
  });
  test('a dimension that occurs only in an expression can be bound', () => {
    assert.deepEqual(bound([['N', 'past + 1']], { past: 0 }, 1), [[1, 1]]);
  });
  test('the symbol of the batch is the batch everywhere', () => {
    assert.deepEqual(
      bound(
        [
          ['N', 3],
          [3, 'N'],
        ],
        {},
        8,
      ),
      [
        [8, 3],
        [3, 8],
      ],
    );
  });
  test('other values get the sizes as well, and keep unknown dimensions', () => {
    const model = modelWith([value('x', ['N', 4])], [value('h', ['N', 'unknown', ''])], [value('y', ['N', 4])]);
    const { types } = bindDimensions(model, new Map(), { batch: 2 }).graph;
    assert.deepEqual(types.get('h')?.dims, [2, 'unknown', '']);
    assert.deepEqual(types.get('y')?.dims, [2, 4]);
  });
  test('the model itself is not changed', () => {
    const model = modelWith([value('x', ['N', 4])]);
    bindDimensions(model, new Map(), { batch: 2 });
    assert.deepEqual(model.graph.types.get('x')?.dims, ['N', 4]);
  });
  test('a fixed batch that equals the requested one is fine', () => assert.deepEqual(bound([[4, 3]], {}, 4), [[4, 3]]));
  test('a fixed batch is fine where none was requested', () => assert.deepEqual(bound([[4, 3]], {}, 1), [[4, 3]]));
});

describe('dimensions that cannot be bound', () => {
  const wrong: [what: string, () => unknown, RegExp][] = [
    [
      'an input with a symbol left',
      () => bound([['N', 'T']], {}, 1),
      /^m\.onnx: the size of a dimension is not known: "T" \(of input "x0"\)\. Give it with --dimension T=SIZE, .*manifest/,
    ],
    [
      'inputs with several symbols left: the message names all of them, each once, quoted for a shell',
      () =>
        bound(
          [
            ['N', 'T', "it's"],
            ['N', 'T'],
            ['N', 'T + past len', 'past_len + T'],
          ],
          {},
          1,
        ),
      /"T" \(of input "x0", "x1"\), .*Give them with --dimension T=SIZE --dimension 'it'\\''s=SIZE' .*--dimension past_len=SIZE/,
    ],
    [
      'an expression of one dimension without a size',
      () => bound([['N', 'T + 1']], {}, 1),
      /not known: "T \+ 1" \(of input "x0"\)\. Give it with --dimension T=SIZE,/,
    ],
    [
      'an expression that does not give a size',
      () =>
        bound(
          [
            ['N', 'T'],
            ['N', 'T - 5'],
          ],
          { T: 4 },
          1,
        ),
      /dimension "T - 5" does not give a whole number from 0 up/,
    ],
    [
      'an input with unnamed dimensions behind the batch',
      () => bound([['', '', '']], {}, 2),
      /input "x0": dimension 1 has neither a size nor a name/,
    ],
    [
      'a binding for an unknown dimension',
      () => bound([['N', 'T']], { S: 1 }, 1),
      /no dimension called "S"; it has "N", "T"/,
    ],
    [
      'a binding for an unknown dimension where others have no name',
      () =>
        bindDimensions(modelWith([value('x', ['N', 4])], [value('h', ['N', ''])]), new Map([['S', 1]]), { batch: 1 }),
      /no dimension called "S"; it has "N"\. Correct/,
    ],
    ['a fixed batch', () => bound([[4, 3]], {}, 2), /batch is fixed at 4/],
    ['a batch that is bound to something else', () => bound([['N', 3]], { N: 4 }, 2), /batch is fixed at 4/],
    ['a model without a batch', () => bound([[]], {}, 2), /no batch dimension/],
    [
      'an input of unknown rank',
      () => bindDimensions(modelWith([value('x')]), new Map(), { batch: 1 }),
      /does not state its number of dimensions/,
    ],
    ['an invalid size', () => bound([['N', 'T']], { T: 1.5 }, 1), /"T" cannot be 1\.5/],
    ['an invalid batch', () => bound([['N']], {}, 0), /batch of 0/],
  ];
  for (const [what, bind, pattern] of wrong) {
    const code = what.startsWith('an invalid') ? 'usage' : 'model';
    test(what, () => assert.throws(bind, { name: 'PlatformError', code, message: pattern }));
  }
});
