import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { passingTests } from '../../mutants/baseline.js';
import { Hunter } from '../../mutants/hunt.js';
import type { Mutant } from '../../mutants/mutant.js';
import { applied, changesIn } from '../../mutants/mutate.js';
import { Sandbox } from '../../mutants/sandbox.js';

const MODULE = `export const isSmall = (a) => a < 5;
export const countTo = (end) => { let i = 0; while (i !== end) i++; return i; };
export const unused = (a) => a > 7;
`;

const TESTS = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countTo, isSmall } from '../src/a.js';
test('small', () => assert.ok(isSmall(4) && !isSmall(8)));
test('count', () => assert.equal(countTo(3), 3));
`;

/** Makes a project of one module and its tests. It is the current folder during the test. */
async function project(t: TestContext): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'project-')));
  await mkdir(join(folder, 'dist/src'), { recursive: true });
  await mkdir(join(folder, 'dist/test'));
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await writeFile(join(folder, 'dist/src/a.js'), MODULE);
  await writeFile(join(folder, 'dist/test/a.test.js'), TESTS);
  const before = process.cwd();
  process.chdir(folder);
  t.after(async () => {
    process.chdir(before);
    await rm(folder, { recursive: true });
  });
  return folder;
}

function planted(change: string): Mutant {
  const [from = '', to = ''] = change.split(' → ');
  const found = changesIn(MODULE).find(({ start, end, replacement }) => {
    return MODULE.slice(start, end) === from && replacement === to;
  });
  assert.ok(found, change);
  const text = applied(MODULE, found);
  return { file: 'src/a.ts', line: 1, description: change, module: 'src/a.js', offset: found.start, text };
}

test('tests kill a defect that they notice, get stuck at one that never ends, and miss others', async (t) => {
  const folder = await project(t);
  const sandbox = await Sandbox.create('dist');
  const hunter = new Hunter(await passingTests(['test/a.test.ts'], sandbox));
  assert.equal(await hunter.hunt(planted('5 → 4'), sandbox), 'killed');
  assert.equal(await hunter.hunt(planted('a < 5 → a <= 5'), sandbox), 'survived');
  assert.equal(await hunter.hunt(planted('i++ → i--'), sandbox), 'stuck');
  assert.equal(await hunter.hunt(planted('7 → 8'), sandbox), 'not executed');
  assert.equal(await readFile(join(folder, 'dist/src/a.js'), 'utf8'), MODULE, 'the project is as it was');
  assert.equal(await readFile(join(sandbox.folder, 'src/a.js'), 'utf8'), MODULE, 'and so is the copy');
});

test('tests that fail without a defect are refused', async (t) => {
  const folder = await project(t);
  await writeFile(join(folder, 'dist/src/a.js'), MODULE.replace('5', '0'));
  const sandbox = await Sandbox.create('dist');
  await assert.rejects(passingTests(['test/a.test.ts'], sandbox), /a\.test\.js without a defect: failed/);
});
