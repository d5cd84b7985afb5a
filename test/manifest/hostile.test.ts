import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadManifest } from '../../src/manifest/load.js';
import { manifestError } from '../../src/manifest/problem.js';
import { resolveEvaluation } from '../../src/manifest/resolve-evaluation.js';
import { folderWith } from './folder.js';

/** Generous: each of these tests takes a fraction of a second, or hours where a limit is missing. */
const DEADLINE = { timeout: 60_000 };

async function refusal(path: string): Promise<string> {
  const result = await resolveEvaluation(path);
  assert.ok(!result.ok, 'the manifest is refused');
  return manifestError(result.problems).message;
}

const MEBIBYTE = (1 << 20) - 1000;
const fill = (unit: string): string => unit.repeat(Math.floor(MEBIBYTE / unit.length));
const bombLevels = Array.from({ length: 30 }, (_, i) => `l${i + 1}: &l${i + 1} [*l${i}, *l${i}, *l${i}]`);

const TEXTS: Readonly<Record<string, readonly [yaml: string, expected: RegExp]>> = {
  'a bomb of aliases': [
    `l0: &l0 [x]\n${bombLevels.join('\n')}`,
    /expected a value written out, found the alias "\*l0"/,
  ],
  'a reference to itself': [
    'models: &m [*m]',
    /:1:13: models\[0\]: expected a value written out, found the alias "\*m"/,
  ],
  'a mebibyte of open brackets': [fill('['), /expected values nested at most 32 deep/],
  'a mebibyte of open lists': [fill('- '), /expected values nested at most 32 deep/],
  'a mebibyte of complex keys': [fill('? '), /expected values nested at most 32 deep/],
  'a mebibyte of items': [`[${fill('a,')}]`, /expected at most 10000 keys and values/],
  'a mebibyte of keys in items': [`[${fill('{a: b},')}]`, /expected at most 10000 keys and values/],
  'a mebibyte of one key': [fill('a: 1\n'), /expected at most 10000 keys and values/],
  'a mebibyte of documents': [fill('---\n'), /expected at most 10000 keys and values/],
  'a mebibyte of folded text': [`>\n${fill(' a\n\n')}`, /expected a mapping, found "a\\na/],
  'an unclosed mebibyte': [`"${fill('a\n\n')}`, /expected valid YAML/],
  'a mebibyte of a range': [
    `software: {framework: {version: "${fill('>1 ')}"}}`,
    /version: expected a range of versions/,
  ],
  'thousands of unknown keys': [
    Array.from({ length: 4900 }, (_, i) => `granularity_${i}: 1`).join('\n'),
    /and \d+ more problems/,
  ],
};

for (const [what, [yaml, expected]] of Object.entries(TEXTS)) {
  test(`${what} ends in a problem`, DEADLINE, async (t) => {
    const folder = await folderWith(t, { 'e.yml': yaml });
    assert.match(await refusal(join(folder, 'e.yml')), expected);
  });
}

test('a file of 100 MB is refused unread', DEADLINE, async (t) => {
  const folder = await folderWith(t, { 'e.yml': '' });
  await truncate(join(folder, 'e.yml'), 100e6);
  assert.match(
    await refusal(join(folder, 'e.yml')),
    /e\.yml:1:1: document: expected .*, found a file of 100000000 bytes/,
  );
});

test('a device without end is refused', DEADLINE, async () => {
  assert.match(await refusal('/dev/zero'), /found a device or pipe/);
});

test('a pipe without a writer is refused', DEADLINE, async (t) => {
  const folder = await folderWith(t, {});
  execFileSync('mkfifo', [join(folder, 'e.yml')]);
  assert.match(await refusal(join(folder, 'e.yml')), /found a device or pipe/);
});

test('a folder is refused', async (t) => {
  const folder = await folderWith(t, {});
  assert.match(await refusal(folder), /found a folder/);
});

test('a missing file is refused', async () => {
  assert.match(await refusal('/nowhere/e.yml'), /^\/nowhere\/e\.yml:1:1: document: expected .*, found no such file$/);
});

test('bytes that are no UTF-8 are refused where they are', async (t) => {
  const folder = await folderWith(t, { 'e.yml': Buffer.from([...Buffer.from('a: 1\né'), 0xff]) });
  assert.match(await refusal(join(folder, 'e.yml')), /e\.yml:2:2: document: expected UTF-8 text, found the byte 0xff/);
});

test('an evaluation that names itself as its model is refused', DEADLINE, async (t) => {
  const folder = await folderWith(t, { 'e.yml': 'dlspec: evaluation/v1\nname: e\nversion: 1.0.0\nmodels: [e.yml]\n' });
  assert.match(
    await refusal(join(folder, 'e.yml')),
    /:4:10: models\[0\]: expected a model manifest, found one of kind/,
  );
});

test('what a manifest says does nothing to the terminal that shows it', async (t) => {
  const folder = await folderWith(t, { 'e.yml': '"\\e[31m\\u202e": "\\e]0;x\\a"\nname: "\\e[2J"' });
  const result = await loadManifest(join(folder, 'e.yml'), ['hardware']);
  assert.ok(!result.ok);
  assert.doesNotMatch(manifestError(result.problems).message, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
});

test('a quotation of a syntax error does nothing to it either', async (t) => {
  const folder = await folderWith(t, { 'e.yml': 'a: !\u009b31m!x y' });
  assert.doesNotMatch(await refusal(join(folder, 'e.yml')), /\u009b/);
});
