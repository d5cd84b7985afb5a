import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { Command } from 'commander';
import { registerGenerate } from '../../../../plugins/dlbricks/commands/generate.js';
import { readRecipe } from '../../../../plugins/dlbricks/bricks/recipe.js';
import { readSuite } from '../../../../plugins/dlbricks/exchange/suite.js';
import { createFakeAgent } from '../../../support/fake-agent.js';
import { parseModel } from '../../../../src/onnx/read/read-model.js';
import { model, node, pipeline, value } from '../../../onnx/protos.js';
import { temporaryFolder } from '../../../store/temporary-folder.js';
import { assertRefused } from '../../../rpc/support/refusal.js';
import { inferredFromBenchmark } from '../support/runtime.js';
import { recordingHost } from './command-host.js';
import { secretModel, type SecretModel } from './secret-model.js';

const secret = secretModel('secret', 1);
const other = secretModel('covert', 2);
const decoy = secretModel('humbug', 3);

/** Runs `dlbricks generate` at the layer cut, which needs no runtime; files are named by the marks of the models. */
async function generate(t: TestContext, models: readonly SecretModel[], ...options: string[]): Promise<string> {
  const folder = await temporaryFolder(t);
  for (const { mark, bytes } of [secret, other, decoy]) await writeFile(join(folder, `${mark}_file.onnx`), bytes);
  const agent = { ...createFakeAgent({ latencyOf: () => 1 }), inferTypes: inferredFromBenchmark };
  const program = new Command();
  registerGenerate(program, recordingHost(agent));
  const paths = models.map(({ mark }) => join(folder, `${mark}_file.onnx`));
  const output = join(folder, 'out');
  await program.parseAsync(['generate', ...paths, '-o', output, '--cut', 'layer', ...options], { from: 'user' });
  return output;
}

/** Every file below a folder by its path, with its bytes. */
async function filesIn(folder: string): Promise<ReadonlyMap<string, Buffer>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return new Map(
    await Promise.all(
      files.sort().map(async (path) => [path.slice(folder.length), await readFile(path)] as [string, Buffer]),
    ),
  );
}

function patternOf(weight: number): Buffer {
  return Buffer.from(Float32Array.of(weight).buffer);
}

describe('a generated suite', () => {
  for (const granularity of ['1', '3', '100']) {
    test(`has no name, text or weight of its models, at granularity ${granularity}`, async (t) => {
      const output = await generate(t, [secret, other], '-G', granularity);
      const files = await filesIn(join(output, 'suite'));

      assert.ok(files.size >= 2);
      for (const { mark, weights, bytes } of [secret, other]) {
        assert.ok(weights.length > 150 && weights.every((weight) => Buffer.from(bytes).includes(patternOf(weight))));
        for (const [path, content] of files) {
          assert.ok(!path.includes(mark) && !content.toString('latin1').toLowerCase().includes(mark), path);
          for (const weight of weights) {
            assert.ok(!content.includes(patternOf(weight)) && !content.includes(String(weight).slice(0, 8)), path);
          }
        }
      }
    });
  }

  test('has nothing longer than one brick, and contains no count, order or edge', async (t) => {
    const output = await generate(t, [secret], '-G', '2');
    const document: unknown = JSON.parse(await readFile(join(output, 'suite', 'suite.json'), 'utf8'));

    assert.ok(typeof document === 'object' && document !== null);
    assert.deepEqual(Object.keys(document).sort(), ['bricks', 'cut', 'format', 'granularity']);
    const { bricks } = await readSuite(join(output, 'suite'));
    for (const { model, operators } of bricks) {
      assert.ok(parseModel(model, 'brick').graph.nodes.length <= 2);
      assert.ok(operators.length <= 2);
    }
    const signatures = bricks.map(({ signature }) => signature);
    assert.deepEqual(signatures, [...new Set(signatures)].sort());
  });

  test('is the same, byte for byte, in every order of the models', async (t) => {
    const one = await filesIn(join(await generate(t, [secret, other, decoy], '-G', '2'), 'suite'));
    const another = await filesIn(join(await generate(t, [decoy, secret, other], '-G', '2'), 'suite'));
    assert.deepEqual(another, one);
  });

  test('is the same for a model with other weights and other names', async (t) => {
    const one = await filesIn(join(await generate(t, [secret]), 'suite'));
    const another = await filesIn(join(await generate(t, [other]), 'suite'));
    assert.deepEqual(another, one);
  });
});

describe('a model whose work depends on values', () => {
  /** Runs `generate` for a NonZero of 40 x 40 numbers. */
  async function nonZero(t: TestContext, ...options: string[]) {
    const folder = await temporaryFolder(t);
    const path = join(folder, 'non-zero.onnx');
    const ends = { input: [value('x', [40, 40])], output: [value('y', undefined, 'int64')] };
    await writeFile(path, model({ node: [node('NonZero', ['x'], ['y'])], ...ends }));
    const host = recordingHost({ ...createFakeAgent({ latencyOf: () => 1 }), inferTypes: inferredFromBenchmark });
    const program = new Command();
    registerGenerate(program, host);
    const asked = ['generate', path, '-o', join(folder, 'out'), '--cut', 'layer', ...options];
    await program.parseAsync(asked, { from: 'user' });
    return { host, suite: join(folder, 'out', 'suite') };
  }

  test('is in a suite with a warning', async (t) => {
    const { host } = await nonZero(t);
    assert.ok(host.warned.some((line) => /non-zero: .*decide the work of NonZero.*no values of a run/.test(line)));
    assert.ok(host.warned.some((line) => /^1 unique brick in /.test(line)));
    assert.ok(host.warned.some((line) => line.endsWith("1 of the models' 1 brick is in no decoy")));
    assert.equal(host.exitCode, 0);
  });

  test('is left out if its values were given and are more than a suite shows', async (t) => {
    const given = Array.from({ length: 1600 }, (_, at) => at % 7).join();
    const asked = nonZero(t, '--input', `x=${given}`);
    await assertRefused(asked, 'unsupported', /non-zero is left out: .*NonZero.* 1600 of them/);
  });

  test('has no values of a run, because there is no option for them', () => {
    const program = new Command();
    registerGenerate(program, recordingHost(createFakeAgent({ latencyOf: () => 1 })));
    const options = program.commands.flatMap((command) => command.options.map(({ long }) => long));
    assert.ok(options.includes('--input') && !options.includes('--values-of-run'));
  });
});

describe('decoys', () => {
  test('are in the suite, and the recipe contains only the true models', async (t) => {
    const relu = join(await temporaryFolder(t), 'relu.onnx');
    await writeFile(relu, pipeline([node('Relu', ['x'], ['y'])]));
    const plain = await generate(t, [secret]);
    const mixed = await generate(t, [secret], '--decoy', relu);

    const signatures = async (output: string): Promise<readonly string[]> =>
      (await readSuite(join(output, 'suite'))).bricks.map(({ signature }) => signature);
    const recipe = await readRecipe(join(mixed, 'recipe.json'));
    const [model] = recipe.models;
    assert.equal(recipe.models.length, 1);
    assert.deepEqual(model?.bricks.map(({ signature }) => signature).sort(), await signatures(plain));
    const added = (await readSuite(join(mixed, 'suite'))).bricks.filter(
      ({ signature }) => !model?.bricks.some((brick) => brick.signature === signature),
    );
    assert.deepEqual(
      added.map(({ operators }) => operators),
      [['Relu']],
    );
  });
});

test('existing files are not overwritten', async (t) => {
  const folder = await temporaryFolder(t);
  await writeFile(join(folder, 'recipe.json'), 'mine');
  await assertRefused(generate(t, [secret], '-o', folder), 'usage', /exists already/);
  assert.equal(await readFile(join(folder, 'recipe.json'), 'utf8'), 'mine');
});
