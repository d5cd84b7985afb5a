import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manifestOf, problemsOf } from './read-manifest.js';

const HEAD = 'dlspec: dataset/v1\nname: d\nversion: 1.0.0\n';

test('a dataset is made up from a seed', () => {
  assert.deepEqual(manifestOf('dataset', `${HEAD}synthetic: {seed: 0}`).synthetic, { seed: 0 });
});

test('a dataset is either made up or has sources', () => {
  const sources = 'sources: [{name: a, source: "https://example.org/a"}]\n';
  assert.deepEqual(problemsOf('dataset', HEAD + sources), []);
  assert.match(problemsOf('dataset', HEAD).join(), /expected either synthetic or sources/);
  assert.match(problemsOf('dataset', `${HEAD}${sources}synthetic: {seed: 0}`).join(), /expected either synthetic or/);
});

test('a seed that no input would be made up from is refused with its place', () => {
  for (const seed of [-1, 1, 0.5]) {
    const problems = problemsOf('dataset', `${HEAD}synthetic: {seed: ${seed}}`).join();
    assert.match(problems, /seed: expected 0, the only seed that inputs are made up from, found/);
  }
});
