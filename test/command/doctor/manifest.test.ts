import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { z } from 'zod';
import { manifestFindings } from '../../../src/command/doctor/manifest.js';
import { assertRefused } from '../../rpc/support/refusal.js';
import { temporaryFolder } from '../../store/temporary-folder.js';

const STATED = 'decode: { color_mode: RGB } }, { resize: { height: 8, width: 8, method: bilinear } }, { layout: CHW';

async function findingsOf(t: TestContext, steps: string) {
  const folder = await temporaryFolder(t);
  const path = join(folder, 'net.yml');
  await writeFile(
    path,
    `dlspec: model/v1
name: net
version: 1.0.0
framework: { name: onnxruntime, version: '*' }
model: { graph_path: net.onnx, checksum: ${'a'.repeat(64)} }
inputs: [{ layer_name: x, element_type: float32, dimensions: [batch, 3, 8, 8], steps: [${steps}] }]
outputs: [{ layer_name: y, element_type: float32, dimensions: [batch, 3, 8, 8] }]
`,
  );
  return manifestFindings(path);
}

const withNormalize = (normalize: string): string => {
  return `{ ${STATED.replace('{ layout', `{ normalize: ${normalize} }, { layout`)} }`;
};

describe('the doctor finds in a manifest', () => {
  test('nothing where everything is stated and of one range', async (t) => {
    assert.deepEqual(await findingsOf(t, withNormalize('{ mean: [124, 116, 104], scale: 58 }')), []);
  });

  const cases: Readonly<Record<string, readonly [id: string, level: string, steps: string, found: RegExp]>> = {
    'a mean of pixels from 0 to 1': [
      'pixel_range',
      'warn',
      withNormalize('{ mean: [0.485, 0.456, 0.406], scale: 58 }'),
      /from 0 to 1 they would be mean \[123\.7, 116\.3, 103\.5\] and scale \[58, 58, 58\]: inputs differ by up to 2\.12/,
    ],
    'a scale of pixels from 0 to 1': [
      'pixel_range',
      'warn',
      withNormalize('{ mean: [124, 116, 104], scale: [0.229, 0.224, 0.225] }'),
      /they would be mean \[124, 116, 104\] and scale \[58\.4, 57\.12, 57\.38\]/,
    ],
    'means in the order blue, green, red': [
      'mean_order',
      'warn',
      withNormalize('{ mean: [104, 117, 123], scale: 1 }'),
      /the usual means in this order are \[123, 117, 104\]: inputs differ by up to 19/,
    ],
    'defaults that decide what a picture becomes': [
      'default_steps',
      'info',
      '{ decode: {} }, { resize: { height: 8, width: 8 } }',
      /decode\.color_mode is RGB by default \(else inputs differ by up to \d+\); resize\.method is bilinear by default/,
    ],
  };
  for (const [what, [id, level, steps, found]] of Object.entries(cases)) {
    test(what, async (t) => {
      const [first, ...others] = await findingsOf(t, steps);
      assert.deepEqual([first?.id, first?.level, others], [id, level, []]);
      assert.match(first?.found ?? '', found);
      assert.ok(first?.why !== '' && first?.remedy !== '');
    });
  }

  test('settings of an evaluation that are left to their defaults, and its models', async (t) => {
    const path = join(await temporaryFolder(t), 'evaluation.yml');
    const head = 'dlspec: evaluation/v1\nname: e\nversion: 1.0.0\nmodels: [zoo:resnet18]\n';
    await writeFile(path, `${head}threads: 1\n`);
    const [finding, ...others] = await manifestFindings(path);
    assert.deepEqual([finding?.id, finding?.level, others], ['default_settings', 'info', []]);
    assert.match(finding?.found ?? '', /: batch_size, protocol\.runs, settings\.optimization_level$/);
    await writeFile(
      path,
      `${head}threads: 1\nbatch_size: 1\nprotocol: { runs: 20 }\nsettings: { optimization_level: all }\n`,
    );
    assert.deepEqual(await manifestFindings(path), []);
  });

  test('settings that the plugin of an evaluation does not have', async (t) => {
    const path = join(await temporaryFolder(t), 'evaluation.yml');
    await writeFile(
      path,
      'dlspec: evaluation/v1\nname: e\nversion: 1.0.0\nmodels: [zoo:resnet18]\nsettings:\n  cuts: layer\n',
    );
    const plugin = { settings: z.strictObject({ cut: z.string() }) };
    const wrong = /evaluation\.yml:6:3: settings\.cuts: expected a known key, found .* \(did you mean "cut"\?\)/;
    const asked = manifestFindings(path, (name) => (name === 'dlbricks' ? plugin : undefined));
    await assertRefused(asked, 'manifest', wrong);
  });

  test('the checksum of names of classes, which nothing else states', async (t) => {
    const folder = await temporaryFolder(t);
    const steps = 'steps: [{ top_k: { k: 5, labels: labels.txt } }]';
    const path = join(folder, 'net.yml');
    await writeFile(join(folder, 'labels.txt'), 'cat\ndog\n');
    await writeFile(
      path,
      `dlspec: model/v1
name: net
version: 1.0.0
framework: { name: onnxruntime, version: '*' }
model: { graph_path: net.onnx, checksum: ${'a'.repeat(64)} }
inputs: [{ layer_name: x, element_type: float32, dimensions: [batch, 2] }]
outputs: [{ layer_name: y, element_type: float32, dimensions: [batch, 2], ${steps} }]
`,
    );
    const [finding, ...others] = await manifestFindings(path);
    assert.deepEqual([finding?.id, finding?.level, others], ['labels', 'info', []]);
    const digest = createHash('sha256').update('cat\ndog\n').digest('hex');
    assert.match(finding?.found ?? '', new RegExp(`labels\\.txt has 2 lines, SHA-256 ${digest}`));
    const pin = { url: 'https://example.org/labels.txt', sha256: digest, bytes: 8 };
    await writeFile(join(folder, 'models-lock.json'), JSON.stringify({ version: 1, files: { 'labels.txt': pin } }));
    assert.deepEqual(await manifestFindings(path), []);
    await writeFile(join(folder, 'models-lock.json'), '{ "version": 1, "files": ');
    const [lock, labels, ...none] = await manifestFindings(path);
    assert.deepEqual([lock?.id, lock?.level, labels?.id, none], ['lock_file', 'warn', 'labels', []]);
    assert.match(lock?.found ?? '', /models-lock\.json is no lock file of `models fetch`/);
  });
});
