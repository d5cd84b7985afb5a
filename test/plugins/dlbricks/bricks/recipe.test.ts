import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { countBricks, readRecipe, type Recipe } from '../../../../plugins/dlbricks/bricks/recipe.js';
import { signatureOf } from '../../../store/sample-measurement.js';
import { temporaryFolder } from '../../../store/temporary-folder.js';
import { assertRefused } from '../../../rpc/support/refusal.js';

const recipe: Recipe = {
  format: 'dlbricks-recipe/1',
  cut: 'layer',
  granularity: 2,
  batch: 1,
  models: [
    {
      name: 'model',
      layers: 5,
      bricks: [0, 1].map((index) => ({ signature: signatureOf(index), operators: ['Conv', 'Relu'] })),
      sequences: [0, 1, 0],
      edges: [
        [0, 1],
        [0, 2],
        [1, 2],
      ],
    },
  ],
};

async function reading(t: TestContext, content: string | Uint8Array): Promise<Recipe> {
  const path = join(await temporaryFolder(t), 'recipe.json');
  await writeFile(path, content);
  return readRecipe(path);
}

test('a recipe is read as it is', async (t) => {
  assert.deepEqual(await reading(t, JSON.stringify(recipe)), recipe);
});

test('a recipe whose bricks are measured together is read as it is', async (t) => {
  const handed = { leaving: signatureOf(5), staying: signatureOf(6) };
  const models = recipe.models.map((model) => ({ ...model, handing_over: handed, footprint_bytes: 2 ** 24 }));
  const together: Recipe = { ...recipe, format: 'dlbricks-recipe/2', cut: 'kernel', models };
  assert.deepEqual(await reading(t, JSON.stringify(together)), together);
});

test('a recipe with values at all bounds is read as it is', async (t) => {
  const copies = { copies: 1024, benchmark: signatureOf(7), baseline: signatureOf(8) };
  const bricks = [{ signature: signatureOf(0), operators: ['Conv'], context: copies }];
  const model = { name: 'm', layers: 0, call: signatureOf(9), bricks, sequences: [0], edges: [] };
  const least: Recipe = { ...recipe, granularity: 1, batch: 1, models: [model] };
  assert.deepEqual(await reading(t, JSON.stringify(least)), least);
  const most: Recipe = { ...least, granularity: 1e6, batch: 65_536, models: [{ ...model, layers: 1e6 }] };
  assert.deepEqual(await reading(t, JSON.stringify(most)), most);
});

test('a recipe with shapes and made-up values is read as it is', async (t) => {
  const models = recipe.models.map((model) => ({
    ...model,
    bricks: model.bricks.map((brick) => ({ ...brick, shapes: ['1x3x224x224', ''] })),
    made_up_values: { operators: [{ operator: 'NonMaxSuppression', count: 2 }], kernels: 3, sequences: [1, 2] },
  }));
  assert.deepEqual(await reading(t, JSON.stringify({ ...recipe, models })), { ...recipe, models });
});

test('a brick counts as often as its model has it', () => {
  const [{ bricks } = assert.fail()] = recipe.models;
  assert.deepEqual(countBricks({ bricks, sequences: [1, 1, 1] }), [0, 3]);
});

describe('reading a recipe refuses', () => {
  test('a missing file', async (t) => {
    const path = join(await temporaryFolder(t), 'none.json');
    await assertRefused(readRecipe(path), 'usage', /none\.json/, /generate/);
  });

  test('a file that is not JSON', async (t) => {
    await assertRefused(reading(t, '{"format":'), 'usage', /recipe\.json: not a readable recipe/, /generate/);
  });

  test('a file that is no text, without quoting it', async (t) => {
    const found = /not a readable recipe \(found a file that is no UTF-8 text\); /;
    for (const bytes of [
      [8, 7, 0x12, 0xff],
      [0x7b, 0x22, 0],
    ]) {
      await assertRefused(reading(t, Uint8Array.from(bytes)), 'usage', found, /generate/);
    }
  });

  const [model] = recipe.models;
  const withModel = (changes: Record<string, unknown>) => ({ ...recipe, models: [{ ...model, ...changes }] });
  const cases: readonly (readonly [what: string, document: unknown, where: RegExp])[] = [
    ['a list', [], /expected a recipe, found JSON that is no object; /],
    ['another format', { ...recipe, format: 'dlbricks-recipe/9' }, /format: .*dlbricks-recipe\/1/],
    ['an unknown cut', { ...recipe, cut: 'diagonal' }, /cut: .*layer/],
    ['no granularity', { ...recipe, granularity: 0 }, /granularity/],
    ['a granularity above the limit of the option', { ...recipe, granularity: 2 ** 53 - 1 }, /granularity: .*1000000/],
    ['a batch above the limit of the option', { ...recipe, batch: 2 ** 53 - 1 }, /batch: .*65536/],
    ['a batch of zero', { ...recipe, batch: 0 }, /batch/],
    ['half a batch', { ...recipe, batch: 1.5 }, /batch/],
    ['half a granularity', { ...recipe, granularity: 1.5 }, /granularity/],
    ['a negative number of layers', withModel({ layers: -1 }), /models\.0\.layers/],
    ['half a layer', withModel({ layers: 0.5 }), /models\.0\.layers/],
    ['a model without a name', withModel({ name: '' }), /models\.0\.name/],
    ['a call that is no signature', withModel({ call: 'A'.repeat(64) }), /models\.0\.call/],
    ['half an edge', withModel({ edges: [[0.5, 1]] }), /models\.0\.edges\.0/],
    ['an edge from a negative index', withModel({ edges: [[-1, 1]] }), /models\.0\.edges\.0/],
    ...(['benchmark', 'baseline', 'copies'] as const).map((lacking) => {
      const copies = { copies: 2, benchmark: signatureOf(7), baseline: signatureOf(8), [lacking]: undefined };
      const bricks = [{ signature: signatureOf(0), operators: [], context: copies }];
      return [`copies without ${lacking}`, withModel({ bricks }), new RegExp(`context\\.${lacking}`)] as const;
    }),
    ...[0, 1.5, 1025].map((copies) => {
      const context = { copies, benchmark: signatureOf(7), baseline: signatureOf(8) };
      const bricks = [{ signature: signatureOf(0), operators: [], context }];
      return [`${copies} copies`, withModel({ bricks }), /context\.copies/] as const;
    }),
    ['more layers than any model has', withModel({ layers: 2 ** 53 - 1 }), /layers: .*1000000/],
    ['a footprint of zero', withModel({ footprint_bytes: 0 }), /models\.0\.footprint_bytes/],
    ['a footprint of half a byte', withModel({ footprint_bytes: 0.5 }), /models\.0\.footprint_bytes/],
    [
      'handing over without the baseline that is subtracted',
      withModel({ handing_over: { leaving: signatureOf(5) } }),
      /models\.0\.handing_over\.staying/,
    ],
    ['an unknown field', { ...recipe, comment: 'mine' }, /comment/],
    ['an unknown field of a model', withModel({ weights: 3 }), /models\.0: .*weights/],
    ['no models', { ...recipe, models: [] }, /models/],
    ['a sequence of a missing brick', withModel({ sequences: [0, 2, 0] }), /models\.0\.sequences\.1: no such brick/],
    ['a sequence that is no index', withModel({ sequences: [0, -1, 0] }), /models\.0\.sequences\.1/],
    ['half a sequence', withModel({ sequences: [0, 0.5, 0] }), /models\.0\.sequences\.1/],
    [
      'an edge that goes back',
      withModel({
        edges: [
          [0, 1],
          [2, 1],
        ],
      }),
      /models\.0\.edges\.1: .*to a later one/,
    ],
    ['an edge in a circle', withModel({ edges: [[1, 1]] }), /models\.0\.edges\.0/],
    ['an edge to a missing sequence', withModel({ edges: [[0, 3]] }), /models\.0\.edges\.0/],
    ['an edge with one end', withModel({ edges: [[0]] }), /models\.0\.edges\.0/],
    ['an invalid signature', withModel({ bricks: [{ signature: '../x', operators: [] }] }), /bricks\.0\.signature/],
  ];
  for (const [what, document, where] of cases) {
    test(what, (t) => assertRefused(reading(t, JSON.stringify(document)), 'usage', /recipe\.json: /, where));
  }

  test('several errors, and names all of them', async (t) => {
    const wrong = { ...withModel({ sequences: [7, 0, 8], edges: [[2, 0]] }), batch: 1 };
    await assertRefused(reading(t, JSON.stringify(wrong)), 'usage', /sequences\.0/, /sequences\.2/, /edges\.0/);
  });
});
