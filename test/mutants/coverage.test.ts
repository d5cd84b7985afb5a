import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { isExecuted, readCoverage } from '../../mutants/coverage.js';
import { temporaryFolder } from '../store/temporary-folder.js';

// A module of 100 characters: its function at 10 ran twice, but the branch at 20 never.
const COUNTS = [
  { startOffset: 0, endOffset: 100, count: 1 },
  { startOffset: 10, endOffset: 50, count: 2 },
  { startOffset: 20, endOffset: 30, count: 0 },
];

const NEVER_RAN = [{ startOffset: 0, endOffset: 100, count: 0 }];

test('the smallest range around a place decides whether it was executed', () => {
  const executed = [0, 10, 19, 20, 29, 30, 99, 100].map((offset) => isExecuted([COUNTS], offset));
  assert.deepEqual(executed, [true, true, true, false, false, true, true, false]);
});

test('a place behind a branch that was not taken is executed where its surroundings are', () => {
  // As in `c ? await f() : 0; g();` with a branch at 20 and a semicolon at 30.
  const behind = { startOffset: 31, endOffset: 40, count: 0 };
  const executed = [25, 30, 35].map((offset) => isExecuted([[...COUNTS, behind]], offset));
  assert.deepEqual(executed, [false, true, true]);
});

test('a place is executed if one of several processes executed it', () => {
  assert.equal(isExecuted([NEVER_RAN, COUNTS], 5), true);
  assert.equal(isExecuted([NEVER_RAN], 5), false);
  assert.equal(isExecuted([], 5), false);
});

test('the counts of a module are those of all processes, other modules are left out', async (t) => {
  const folder = await temporaryFolder(t);
  const script = (url: string, ranges: unknown): unknown => ({ url, functions: [{ ranges }] });
  const first = [script('file:///p/dist/src/a.js', COUNTS), script('node:fs', COUNTS)];
  const second = [script('file:///p/dist/src/a.js', NEVER_RAN), script('file:///p/node_modules/b.js', COUNTS)];
  await writeFile(join(folder, '1.json'), JSON.stringify({ result: first }));
  await writeFile(join(folder, '2.json'), JSON.stringify({ result: second }));
  const coverage = await readCoverage(folder, 'file:///p/dist/');
  assert.deepEqual([...coverage.keys()], ['src/a.js']);
  assert.deepEqual(new Set(coverage.get('src/a.js')), new Set([COUNTS, NEVER_RAN]));
});
