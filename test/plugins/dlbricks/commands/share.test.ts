import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { Command } from 'commander';
import { registerShare } from '../../../../plugins/dlbricks/commands/share.js';
import { createFakeAgent } from '../../../support/fake-agent.js';
import { temporaryFolder } from '../../../store/temporary-folder.js';
import { assertRefused } from '../../../rpc/support/refusal.js';
import { inferredFromBenchmark } from '../support/runtime.js';
import { recordingHost, type RecordingHost } from './command-host.js';
import { secretModel } from './secret-model.js';

/** Runs `dlbricks share` at the layer cut, which needs no runtime, on two models that differ in names and weights only. */
async function share(
  t: TestContext,
  optionsIn: (folder: string) => readonly string[] = () => [],
): Promise<{ readonly host: RecordingHost; readonly folder: string }> {
  const folder = await temporaryFolder(t);
  const paths = ['first', 'second'].map((name) => join(folder, `${name}.onnx`));
  await writeFile(paths[0]!, secretModel('first', 1).bytes);
  await writeFile(paths[1]!, secretModel('second', 2).bytes);
  const agent = { ...createFakeAgent({ latencyOf: () => 1 }), inferTypes: inferredFromBenchmark };
  const host = recordingHost(agent);
  const program = new Command().exitOverride();
  registerShare(program, host);
  await program.parseAsync(['share', ...paths, '--cut', 'layer', ...optionsIn(folder)], { from: 'user' });
  assert.deepEqual(agent.measured, []);
  return { host, folder };
}

interface Document {
  readonly format: string;
  readonly models: readonly Readonly<Record<string, unknown>>[];
  readonly jaccard: readonly (readonly number[])[];
}

describe('dlbricks share', () => {
  test('shows each model, and the share of it that other models have too', async (t) => {
    const { host } = await share(t);
    const [table = ''] = host.printed;
    assert.match(table, /│ first +│/);
    assert.match(table, /in others/);
    assert.match(table, /100 %/);
  });

  test('writes the same as JSON, CSV and a heat map', async (t) => {
    const { folder } = await share(t, (into) => [
      ...[
        '--export-json',
        join(into, 's.json'),
        '--export-csv',
        join(into, 's.csv'),
        '--export-svg',
        join(into, 's.svg'),
      ],
    ]);
    const document = JSON.parse(await readFile(join(folder, 's.json'), 'utf8')) as Document;
    assert.equal(document.format, 'dlbricks-sharing/1');
    assert.equal(document.models[0]?.['covered_by_others_percent'], 100);
    assert.equal(document.models[0]['covered_by_others_time_percent'], null);
    assert.deepEqual(document.jaccard, [
      [1, 1],
      [1, 1],
    ]);
    const [titles, ...rows] = (await readFile(join(folder, 's.csv'), 'utf8')).trimEnd().split('\r\n');
    assert.match(titles ?? '', /,jaccard first,jaccard second$/);
    assert.equal(rows.length, 2);
    assert.match(rows[1] ?? '', /^second,.*,100,100$/);
    assert.match(await readFile(join(folder, 's.svg'), 'utf8'), /^<svg .*first.*<\/svg>\n$/s);
  });

  test('refuses a file that cannot be written before it loads a model', async (t) => {
    const writing = share(t, (into) => ['--export-svg', join(into, 'first.onnx', 'x.svg')]);
    await assertRefused(writing, 'usage', /first\.onnx/);
  });
});
