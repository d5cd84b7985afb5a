import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manifestOf, problemsOf } from './read-manifest.js';

const HEAD = 'dlspec: hardware/v1\nname: h\nversion: 1.0.0\n';

/** What `process.arch` has, by the documentation of Node 20, where ONNX Runtime can be built. */
const ARCHITECTURES = ['x64', 'arm64', 'arm', 'ia32', 'loong64', 'ppc64', 'riscv64', 's390x'];

test('hardware has an architecture as Node names it', () => {
  for (const architecture of ARCHITECTURES) {
    assert.equal(manifestOf('hardware', `${HEAD}architecture: ${architecture}`).architecture, architecture);
  }
  assert.match(problemsOf('hardware', `${HEAD}architecture: amd64`).join(), /architecture: expected "x64", "arm64"/);
});

test('hardware has 1 to 100,000 cores, and some memory', () => {
  for (const min of [1, 100_000]) assert.deepEqual(problemsOf('hardware', `${HEAD}cores: {min: ${min}}`), []);
  for (const min of [0, 100_001]) {
    assert.match(
      problemsOf('hardware', `${HEAD}cores: {min: ${min}}`).join(),
      /expected a whole number from 1 to 100000/,
    );
  }
  assert.deepEqual(problemsOf('hardware', `${HEAD}memory: {min_gib: 0.5}`), []);
  assert.equal(problemsOf('hardware', `${HEAD}memory: {min_gib: 0}`).length, 1);
});
