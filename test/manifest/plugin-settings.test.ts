import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import dlbricks from '../../plugins/dlbricks/index.js';
import { manifestJsonSchema } from '../../src/evaluation/manifest-schema.js';
import { type ManifestDocument, parseDocument } from '../../src/manifest/document.js';
import { checkDescribedSettings } from '../../src/manifest/plugin-settings.js';
import { orThrow } from '../../src/manifest/problem.js';
import { refusal } from '../rpc/support/refusal.js';

function documentOf(yaml: string): ManifestDocument {
  return orThrow(parseDocument('e.yml', Buffer.from(yaml)));
}

const { evaluation = assert.fail() } = dlbricks;
const OF_DLBRICKS = JSON.stringify(manifestJsonSchema(evaluation));

describe('settings, by the JSON Schema of a plugin', () => {
  test('have the places of all their problems, also beside `settings`', () => {
    const yaml = 'granularity: 0\nsettings:\n  target_error: -1\n  cuts: layer\nmatrix: { threads: [0] }\n';
    assert.throws(
      () => checkDescribedSettings(documentOf(yaml), OF_DLBRICKS),
      refusal(
        'manifest',
        /^e\.yml:1:14: granularity: .*\ne\.yml:3:17: settings\.target_error: .*\ne\.yml:4:3: settings\.cuts: .*\(did you mean "cut"\?\)\ne\.yml:5:21: matrix\.threads\[0\]: .*$/,
      ),
    );
  });

  test('of the manifests that come with the platform are right', async () => {
    const folder = join(import.meta.dirname, '../../../manifests/evaluations');
    for (const name of ['quickstart', 'icpe2020', 'modern', 'generation', 'every-system']) {
      checkDescribedSettings(documentOf(await readFile(join(folder, `${name}.yml`), 'utf8')), OF_DLBRICKS);
    }
  });

  test('are left to the plugin where its schema says nothing, or cannot be read', () => {
    const document = documentOf('settings: { depth: 3 }\nmatrix: { threads: [1] }\n');
    const deep = `${'{"not":'.repeat(20_000)}{}${'}'.repeat(20_000)}`;
    const unreadable = ['{"$ref":"#/nowhere"}', '{"type":"nothing"}', '{"properties":{"depth":{"pattern":"("}}}', deep];
    const silent = ['{}', '{"properties":5}', '{"properties":{"models":false}}'];
    for (const schema of [...silent, ...unreadable.map((settings) => `{"properties":{"settings":${settings}}}`)]) {
      checkDescribedSettings(document, schema);
    }
  });
});
