import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { needsLinux } from '../support/processes.js';
import { agentForSuite } from '../support/running-agent.js';
import { benchmarkOf, protocol, relu, runOptions } from '../support/tiny-benchmarks.js';
import { measureOne } from '../support/measure-one.js';

/** 4 weights of 128 MiB. */
const WEIGHTS = 4;
const SIDE = 8192;
const WIDTH = 4096;

const half = benchmarkOf({
  inputs: {
    x: { dims: [1, SIDE] },
    ...Object.fromEntries(
      Array.from({ length: WEIGHTS }, (_, i) => [`w${i}`, { dims: [SIDE, WIDTH], role: 'weight' as const }]),
    ),
  },
  nodes: Array.from({ length: WEIGHTS }, (_, i) => ({ opType: 'MatMul', inputs: ['x', `w${i}`], outputs: [`y${i}`] })),
  outputs: Array.from({ length: WEIGHTS }, (_, i) => `y${i}`),
});

describe('filling weights', { timeout: 300_000, skip: needsLinux }, () => {
  const agent = agentForSuite();

  test('half a gigabyte of weights takes at most two and a half times as much memory', async () => {
    const how = { ...protocol, warmupRuns: 0, runs: 1 };
    const base = await measureOne(agent().client, relu, runOptions, how);
    const { outcome, peakMemoryBytes } = await measureOne(agent().client, half, runOptions, how);
    const weightBytes = WEIGHTS * SIDE * WIDTH * 4;

    assert.equal(outcome.kind, 'samples');
    assert.ok((peakMemoryBytes - base.peakMemoryBytes) / weightBytes < 2.5);
  });

  test('the peak memory of one measurement does not count for the next', async () => {
    const large = await measureOne(agent().client, half, runOptions, { ...protocol, warmupRuns: 0, runs: 1 });
    const small = await measureOne(agent().client, relu, runOptions, protocol);

    assert.ok(small.peakMemoryBytes < large.peakMemoryBytes / 2);
  });
});
