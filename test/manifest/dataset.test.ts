import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manifestOf, problemsOf } from './read-manifest.js';

const HEAD = 'dlspec: dataset/v1\nname: d\nversion: 1.0.0\n';

test('a dataset is made up from a seed', () => {
  assert.deepEqual(manifestOf('dataset', `${HEAD}synthetic: {seed: 7}`).synthetic, { seed: 7 });
});

test('a dataset is either made up or has sources', () => {
  const sources = 'sources: [{name: a, source: "https://example.org/a"}]\n';
  assert.deepEqual(problemsOf('dataset', HEAD + sources), []);
  assert.match(problemsOf('dataset', HEAD).join(), /expected either synthetic or sources/);
  assert.match(problemsOf('dataset', `${HEAD}${sources}synthetic: {seed: 1}`).join(), /expected either synthetic or/);
});

test('a seed is a 32-bit number without a sign', () => {
  for (const seed of [0, 2 ** 32 - 1]) {
    assert.deepEqual(manifestOf('dataset', `${HEAD}synthetic: {seed: ${seed}}`).synthetic, { seed });
  }
  for (const seed of [-1, 2 ** 32, 0.5]) {
    const problems = problemsOf('dataset', `${HEAD}synthetic: {seed: ${seed}}`).join();
    assert.match(problems, /seed: expected a whole number from 0 to 4294967295/);
  }
});
