import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { Command } from 'commander';
import { registerLayers, registerPatterns } from '../../../../plugins/dlbricks/commands/layers.js';
import { PlatformError } from '../../../../src/base/errors.js';
import { ICPE2020 } from '../../../../src/zoo/architectures/icpe2020/index.js';
import { zooEntry } from '../../../../src/zoo/zoo.js';
import { createFakeAgent } from '../../../support/fake-agent.js';
import { encodeModelToBytes } from '../../../../src/onnx/write/write-model.js';
import { assertOfSchema } from '../../../schemas/validator.js';
import { temporaryFolder } from '../../../store/temporary-folder.js';
import { int, model, node, value } from '../../../onnx/protos.js';
import { chainModel } from '../support/chain-model.js';
import { recordingHost, type RecordingHost } from './command-host.js';

interface Layers {
  readonly models: readonly Readonly<Record<string, number>>[];
  readonly layers: readonly Readonly<Record<string, string | number | null>>[];
}

/** A host on which nothing can run. */
function idleHost(): RecordingHost {
  const host = recordingHost(createFakeAgent({ latencyOf: () => 1 }));
  return { ...host, connect: () => Promise.reject(new PlatformError('internal', 'an agent was started')) };
}

async function layers(t: TestContext, ...args: readonly string[]): Promise<Layers> {
  const path = join(await temporaryFolder(t), 'layers.json');
  const program = new Command().exitOverride();
  registerLayers(program, idleHost());
  await program.parseAsync(['layers', ...args, '--export-json', path, '--quiet'], { from: 'user' });
  const document = JSON.parse(await readFile(path, 'utf8')) as Layers;
  assertOfSchema('layers', document);
  return document;
}

describe('dlbricks layers', () => {
  test('has the published multiply-accumulates of the zoo, and starts no agent', async (t) => {
    const names = ['resnet18', 'resnet50', 'mobilenet_v2', 'bert_base', 'swin_t', ICPE2020[6]?.name ?? ''];
    const { models } = await layers(t, ...names.map((name) => `zoo:${name}`));
    for (const [index, name] of names.entries()) {
      const { multiplyAccumulates = NaN } = zooEntry(name);
      // Some sources round to 10⁶.
      assert.ok(Math.abs((models[index]?.['multiply_accumulates'] ?? NaN) - multiplyAccumulates) <= 500_000, name);
    }
  });

  test('adds up to its totals, and convolutions are most of ResNet-50', async (t) => {
    const { models, layers: rows } = await layers(t, 'zoo:resnet50');
    const sum = (key: string, of = rows): number => of.reduce((total, row) => total + Number(row[key]), 0);
    for (const key of ['operations', 'multiply_accumulates', 'activation_bytes', 'output_bytes']) {
      assert.equal(sum(key), models[0]?.[key], key);
    }
    const convolutions = rows.filter(({ operator }) => operator === 'Conv');
    assert.ok(sum('operations', convolutions) > 0.9 * sum('operations'));
    // 25,557,032 learned ones (docs/zoo.md), and the mean and variance of 26,560 channels.
    assert.equal(models[0]?.['parameters'], 25_557_032 + 2 * 26_560);
  });

  test('grows with the batch, and the weights do not', async (t) => {
    const { models: one } = await layers(t, 'zoo:squeezenet1.1');
    const { models: four } = await layers(t, 'zoo:squeezenet1.1', '--batch', '4');
    assert.equal(four[0]?.['operations'], 4 * (one[0]?.['operations'] ?? NaN));
    assert.equal(four[0]?.['parameter_bytes'], one[0]?.['parameter_bytes']);
  });

  test('shows totals of small models to the last operation', async (t) => {
    const path = join(await temporaryFolder(t), 'net.onnx');
    await writeFile(path, encodeModelToBytes(chainModel('Relu', 'Abs')));
    const host = idleHost();
    const program = new Command().exitOverride();
    registerLayers(program, host);
    await program.parseAsync(['layers', path, '--export-json', `${path}.json`], { from: 'user' });
    const { models } = JSON.parse(await readFile(`${path}.json`, 'utf8')) as Layers;
    const operations = Number(models[0]?.['operations']);
    assert.ok(operations > 0 && operations < 1e6);
    assert.match(
      host.printed.join(''),
      new RegExp(`2 layers, 0 multiply-accumulates, ${operations} operations, 0 parameters`),
    );
  });

  test('names the layers that it cannot count, and counts them as unknown', async (t) => {
    const { models, layers: rows } = await layers(t, 'zoo:yolov8n');
    const resized = rows.filter(({ operator }) => operator === 'Resize');
    assert.equal(resized.length, models[0]?.['uncounted_layers']);
    for (const row of resized) {
      assert.deepEqual([row['operations'], row['intensity']], [null, null]);
      assert.match(String(row['uncounted']), /not counted/);
    }
  });
});

test('dlbricks layers warns where made-up values decide sizes, before its table', async (t) => {
  const path = join(await temporaryFolder(t), 'compress.onnx');
  const input = [value('x', [8, 4]), value('kept', [8], 'bool')];
  const valueInfo = [value('few', [4, 4])];
  const nodes = [node('Compress', ['x', 'kept'], ['few'], [int('axis', 0)]), node('Relu', ['few'], ['y'])];
  await writeFile(path, model({ input, valueInfo, node: nodes, output: [value('y', [4, 4])] }));
  const host = idleHost();
  const program = new Command().exitOverride();
  registerLayers(program, host);
  await program.parseAsync(['layers', path], { from: 'user' });
  const warnings = host.warned.filter((line) => line.startsWith('warning'));
  assert.deepEqual(warnings, [
    'warning: compress: the numbers of layers may be far off: made-up values decide the work of Compress, and the sizes in 1 further node; --input NAME=VALUE gives an input its real values',
  ]);
});

describe('dlbricks patterns', () => {
  async function patterns(t: TestContext, operators: readonly string[], length: number): Promise<string> {
    const path = join(await temporaryFolder(t), 'net.onnx');
    await writeFile(path, encodeModelToBytes(chainModel(...operators)));
    const host = idleHost();
    const program = new Command().exitOverride();
    registerPatterns(program, host);
    await program.parseAsync(['patterns', path, '--length', String(length)], { from: 'user' });
    return host.printed.join('');
  }

  test('counts each sequence of types along the graph', async (t) => {
    const table = await patterns(t, ['Relu', 'Abs', 'Relu', 'Abs', 'Neg'], 2);
    assert.match(table, /│ Relu > Abs +│ +2 │ +50 │ +1 │/);
    assert.match(table, /│ Abs > Neg +│ +1 │ +25 │/);
  });

  test('has none that is longer than the graph', async (t) => {
    assert.match(await patterns(t, ['Relu', 'Abs'], 3), /0 paths, 0 patterns in 1 model\./);
  });
});
