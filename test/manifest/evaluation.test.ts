import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kindJsonSchema } from '../../src/manifest/load.js';
import { firstSizes, agentChoiceOf, readLimits, readProtocol } from '../../src/manifest/evaluation.js';
import { limitsSchema, protocolSchema } from '../../src/measurement/protocol.js';
import { manifestOf, problemsOf } from './read-manifest.js';

const SHORTEST = 'dlspec: evaluation/v1\nname: e\nversion: 1.0.0\nmodels: [zoo:a]\n';

test('the shortest evaluation has every default', () => {
  assert.deepEqual(manifestOf('evaluation', SHORTEST), {
    dlspec: 'evaluation/v1',
    name: 'e',
    version: '1.0.0',
    plugin: 'dlbricks',
    models: ['zoo:a'],
    agents: 'one',
    placement: 'spread',
    batch_size: 1,
    threads: 1,
    protocol: {
      warmup_runs: 3,
      runs: 50,
      min_runs: 10,
      time_budget_ms: 5000,
      time_limit_ms: 120_000,
      memory_limit_gib: 8,
    },
  });
});

test('agents are one, all or a number, on one system or on each', () => {
  const asked = (lines: string) => agentChoiceOf(manifestOf('evaluation', SHORTEST + lines));
  assert.deepEqual(asked(''), { most: 1, placement: 'spread' });
  assert.deepEqual(asked('agents: all\nplacement: each\n'), { most: Infinity, placement: 'each' });
  assert.deepEqual(asked('agents: 3\n'), { most: 3, placement: 'spread' });
  assert.match(
    problemsOf('evaluation', `${SHORTEST}agents: some\n`).join(),
    /expected one, all or a whole number from 1/,
  );
  assert.match(problemsOf('evaluation', `${SHORTEST}agents: 0\n`).join(), /expected one, all or a whole number from 1/);
  assert.match(problemsOf('evaluation', `${SHORTEST}placement: all\n`).join(), /expected spread or each/);
});

test('fewer runs than the usual minimum are all made', () => {
  assert.equal(manifestOf('evaluation', `${SHORTEST}protocol: {runs: 4}`).protocol.min_runs, 4);
});

test('protocol and limits are those that measurements take', () => {
  const evaluation = manifestOf('evaluation', `${SHORTEST}protocol: {memory_limit_gib: 1.5, time_budget_ms: 250}`);
  const protocol = { warmupRuns: 3, runs: 50, minRuns: 10, timeBudgetMs: 250 };
  assert.deepEqual(protocolSchema.parse(readProtocol(evaluation)), protocol);
  assert.deepEqual(limitsSchema.parse(readLimits(evaluation)), {
    timeLimitMs: 120_000,
    memoryLimitBytes: 1_610_612_736,
  });
});

test('models are read with the first size of each dimension; batch is no dimension', () => {
  const sizes = (dimensions: unknown) => firstSizes({ matrix: { dimensions } });
  assert.deepEqual(sizes({ seq: [128, 256], past: [0] }), [
    ['seq', 128],
    ['past', 0],
  ]);
  assert.deepEqual(sizes({ seq: [128], batch: [1] }), []);
  assert.deepEqual(firstSizes({ matrix: undefined }), []);
});

test('the JSON Schema asks for what has no default and allows no other keys', () => {
  const { required, properties, additionalProperties } = kindJsonSchema('evaluation');
  assert.deepEqual(required, ['dlspec', 'name', 'version', 'models']);
  assert.ok(typeof properties === 'object' && properties !== null && 'granularity' in properties);
  assert.equal(additionalProperties, false);
});
