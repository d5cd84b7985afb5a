import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import fc from '../../../support/property.js';
import { brickModel } from '../../../../plugins/dlbricks/cut/brick-model.js';
import type { Brick } from '../../../../plugins/dlbricks/bricks/brick.js';
import { type Recipe, readRecipe, RECIPE_FORMAT } from '../../../../plugins/dlbricks/bricks/recipe.js';
import { brickPath, readSuite, type Suite, writeSuite } from '../../../../plugins/dlbricks/exchange/suite.js';
import { decomposeModel, uniqueBricks } from '../../../../plugins/dlbricks/bricks/unique-bricks.js';
import { layerGraph } from '../../../../src/onnx/layers/layer-graph.js';
import { temporaryFolder } from '../../../store/temporary-folder.js';
import { generatedModels, layerGraphOf } from '../support/generated-graph.js';
import { GraphBuilder } from '../support/graph-builder.js';
import { assertRefused } from '../../../rpc/support/refusal.js';

function bySignature(a: Brick, b: Brick): number {
  return a.signature < b.signature ? -1 : 1;
}

/** A model of three layers as a suite of three bricks, in the order of the model, and its recipe. */
function small(): { readonly suite: Suite; readonly recipe: Recipe } {
  const g = new GraphBuilder();
  const x = g.layer('MatMul', [g.input('float32', [1, 4]), g.weight([4, 3], 4)], [1, 3]);
  const y = g.layer('Sigmoid', [g.layer('Relu', [x], [1, 3])], [1, 3]);
  const { recipe, bricks } = decomposeModel('model', layerGraph(g.model([y])), 1);
  return {
    suite: { cut: 'layer', granularity: 1, bricks, calls: [], outputCopies: [] },
    recipe: { format: RECIPE_FORMAT, cut: 'layer', granularity: 1, batch: 1, models: [recipe] },
  };
}

async function written(t: TestContext): Promise<{ readonly folder: string; readonly bricks: readonly Brick[] }> {
  const parent = await temporaryFolder(t);
  const { suite, recipe } = small();
  await writeSuite(parent, suite, recipe);
  return { folder: join(parent, 'suite'), bricks: [...suite.bricks].sort(bySignature) };
}

interface SuiteDocument {
  bricks: { signature: string; inputs: { name: string; role: string; element_type: string; dims: number[] }[] }[];
  [key: string]: unknown;
}

async function changeDocument(folder: string, change: (document: SuiteDocument) => void): Promise<void> {
  const path = join(folder, 'suite.json');
  const document = JSON.parse(await readFile(path, 'utf8')) as SuiteDocument;
  change(document);
  await writeFile(path, JSON.stringify(document));
}

describe('a suite', () => {
  test('is parsed once: whoever needs the graph of a brick gets the same one', async (t) => {
    const { folder } = await written(t);
    for (const brick of (await readSuite(folder)).bricks) {
      const model = brickModel(brick);
      assert.equal(brickModel({ model: brick.model }), model);
      assert.notEqual(brickModel({ model: Uint8Array.from(brick.model) }), model);
    }
  });

  test('is read as it was written, in the order of its signatures, and the recipe too', async (t) => {
    const parent = await temporaryFolder(t);
    let count = 0;
    const large = { elementType: 'float32', dims: [256, 256] } as const;
    const outputCopies = [[large, { ...large, isCopied: true as const }]];
    await fc.assert(
      fc.asyncProperty(generatedModels(), fc.integer({ min: 1, max: 5 }), async (generated, granularity) => {
        const folder = join(parent, `${count++}`);
        const model = decomposeModel('model', layerGraphOf(generated), granularity);
        const bricks = uniqueBricks([model]);
        const recipe: Recipe = {
          format: RECIPE_FORMAT,
          cut: 'layer',
          granularity,
          batch: 1,
          models: [model.recipe],
        };
        await writeSuite(folder, { cut: 'layer', granularity, bricks, calls: [], outputCopies }, recipe);

        const read = await readSuite(join(folder, 'suite'));
        assert.deepEqual(
          { ...read, bricks: read.bricks.map((brick) => ({ ...brick, model: Buffer.from(brick.model) })) },
          {
            cut: 'layer',
            granularity,
            calls: [],
            outputCopies,
            bricks: [...bricks].sort(bySignature).map((brick) => ({ ...brick, model: Buffer.from(brick.model) })),
          },
        );
        assert.deepEqual(await readRecipe(join(folder, 'recipe.json')), recipe);
      }),
      { numRuns: 20 },
    );
  });

  test('has one file for each brick, named by the hash of its content', async (t) => {
    const { folder, bricks } = await written(t);
    const files = (await readdir(join(folder, 'bricks'))).sort();
    assert.deepEqual(
      files,
      bricks.map(({ signature }) => `${signature}.onnx`),
    );
    for (const file of files) {
      const hash = createHash('sha256').update(await readFile(join(folder, 'bricks', file)));
      assert.equal(`${hash.digest('hex')}.onnx`, file);
    }
  });
});

describe('writing a suite', () => {
  test('over an existing one is refused, and changes nothing', async (t) => {
    const { folder } = await written(t);
    const { suite, recipe } = small();
    const before = await readFile(join(folder, 'suite.json'));

    await assertRefused(writeSuite(join(folder, '..'), suite, recipe), 'usage', /suite exists already/, /-o/);

    assert.deepEqual(await readFile(join(folder, 'suite.json')), before);
    assert.deepEqual((await readdir(join(folder, '..'))).sort(), ['recipe.json', 'suite']);
  });

  test('beside an existing recipe is refused', async (t) => {
    const folder = await temporaryFolder(t);
    await writeFile(join(folder, 'recipe.json'), 'mine');
    const { suite, recipe } = small();

    await assertRefused(writeSuite(folder, suite, recipe), 'usage', /recipe\.json exists already/);

    assert.deepEqual(await readdir(folder), ['recipe.json']);
  });

  test('in or below a file is refused, and the message has a remedy', async (t) => {
    const folder = await temporaryFolder(t);
    await writeFile(join(folder, 'file'), '');
    const { suite, recipe } = small();

    for (const place of ['file', 'file/folder']) {
      await assertRefused(writeSuite(join(folder, place), suite, recipe), 'usage', /file is not a folder/, /-o/);
    }
  });

  test('that fails in the middle leaves nothing behind', async (t) => {
    const folder = await temporaryFolder(t);
    const { suite, recipe } = small();
    const [first, ...others] = suite.bricks;
    assert.ok(first);
    // A name that no file can have.
    const broken = { ...suite, bricks: [...others, { ...first, signature: 'f\0' }] };

    await assertRefused(writeSuite(folder, broken, recipe), 'storage');
    // A value that JSON cannot have. The bricks are already written by then.
    await assertRefused(writeSuite(folder, suite, { ...recipe, batch: 1n as unknown as number }), 'storage');

    assert.deepEqual(await readdir(folder), []);
  });
});

describe('reading a suite refuses', () => {
  test('a path that is not a folder', async (t) => {
    await assertRefused(readSuite(await temporaryFolder(t)), 'usage', /suite\.json/, /generate/);
  });

  test('a suite.json that is no JSON', async (t) => {
    const { folder } = await written(t);
    await truncate(join(folder, 'suite.json'), 100);
    await assertRefused(readSuite(folder), 'usage', /suite\.json: not a readable suite/, /generate/);
  });

  test('a brick whose file was changed', async (t) => {
    const { folder, bricks } = await written(t);
    const path = join(folder, brickPath(bricks[0]?.signature ?? ''));
    const bytes = await readFile(path);
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
    await writeFile(path, bytes);
    await assertRefused(readSuite(folder), 'usage', new RegExp(bricks[0]?.signature ?? ''), /SHA-256/);
  });

  test('two bricks whose files are swapped', async (t) => {
    const { folder, bricks } = await written(t);
    const [one = '', other = ''] = bricks.map(({ signature }) => join(folder, brickPath(signature)));
    await rename(one, join(folder, 'aside'));
    await rename(other, one);
    await rename(join(folder, 'aside'), other);
    await assertRefused(readSuite(folder), 'usage', /SHA-256/);
  });

  test('a brick whose file is missing', async (t) => {
    const { folder, bricks } = await written(t);
    await rm(join(folder, brickPath(bricks[1]?.signature ?? '')));
    await assertRefused(readSuite(folder), 'usage', new RegExp(bricks[1]?.signature ?? ''), /no such file/, /again/);
  });

  test('a brick that is no file', async (t) => {
    const { folder, bricks } = await written(t);
    const path = join(folder, brickPath(bricks[1]?.signature ?? ''));
    await rm(path);
    await mkdir(path);
    await assertRefused(readSuite(folder), 'usage', /expected a brick, found a folder/);
  });

  test('a brick that is too large, without reading it', async (t) => {
    const { folder, bricks } = await written(t);
    await truncate(join(folder, brickPath(bricks[1]?.signature ?? '')), 2 ** 40);
    await assertRefused(readSuite(folder), 'usage', /found a file of 1099511627776 bytes \(at most 67108864\)/);
  });

  test('a brick that is no model, though its name is its hash', async (t) => {
    const { folder, bricks } = await written(t);
    const bytes = Buffer.from('no model');
    const signature = createHash('sha256').update(bytes).digest('hex');
    await writeFile(join(folder, brickPath(signature)), bytes);
    await changeDocument(
      folder,
      (document) => ((document.bricks[0] ??= { signature, inputs: [] }).signature = signature),
    );
    assert.equal(bricks.length, 3);
    await assertRefused(readSuite(folder), 'model', /not an? (readable )?ONNX|holds no graph|damaged|truncated/);
  });

  const inputs: Readonly<Record<string, (input: SuiteDocument['bricks'][number]['inputs']) => void>> = {
    'another name': ([input]) => input && (input.name = 'v9'),
    'another shape': ([input]) => input && (input.dims = [1, 5]),
    'another element type': ([input]) => input && (input.element_type = 'float64'),
    'another role': ([input]) => input && (input.role = 'weight'),
    'another order': (list) => list.reverse(),
    'one too many': (list) => list[0] && list.push({ ...list[0], name: 'v9' }),
    'one too few': (list) => list.pop(),
  };
  for (const [what, change] of Object.entries(inputs)) {
    test(`inputs that are not the brick's: ${what}`, async (t) => {
      const { folder, bricks } = await written(t);
      const index = bricks.findIndex(({ inputs: list }) => list.length === 2);
      await changeDocument(folder, ({ bricks: documents }) => change(documents[index]?.inputs ?? []));
      const asked = readSuite(folder);
      await assertRefused(asked, 'usage', /expected the inputs v0 \(activation, float32 \[1, 4\]\), c1 \(weight/);
    });
  }

  const tricks: Readonly<Record<string, string>> = {
    'a path': '../../../../etc/passwd',
    'an absolute path': '/etc/passwd',
    'upper case': 'A'.repeat(64),
    nothing: '',
    'a line break': `${'a'.repeat(64)}\n`,
  };
  for (const [what, signature] of Object.entries(tricks)) {
    test(`an invalid signature: ${what}`, async (t) => {
      const { folder } = await written(t);
      await changeDocument(folder, ({ bricks: [brick] }) => brick && (brick.signature = signature));
      await assertRefused(readSuite(folder), 'usage', /bricks\.0\.signature/);
    });
  }

  test('a brick that is listed twice', async (t) => {
    const { folder } = await written(t);
    await changeDocument(folder, ({ bricks }) => bricks[0] && bricks.push(bricks[0]));
    await assertRefused(readSuite(folder), 'usage', /twice/);
  });

  test('unknown values and keys, and names all of them', async (t) => {
    const { folder } = await written(t);
    await changeDocument(folder, (document) => {
      document['format'] = 'dlbricks-suite/3';
      document['cut'] = 'diagonal';
      document['author'] = 'somebody';
    });
    await assertRefused(readSuite(folder), 'usage', /format/, /cut/, /author/);
  });

  test('thousands of problems, and names the first few of them', async (t) => {
    const { folder } = await written(t);
    await changeDocument(folder, (document) => {
      document.bricks = Array.from({ length: 5000 }, () => ({ signature: 'x', inputs: [] }));
    });
    await assert.rejects(readSuite(folder), (error: Error) => error.message.split('\n').length <= 20);
  });
});
