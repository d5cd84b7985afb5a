import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nearestRank } from '../../src/load/percentiles.js';
import type { ServiceTimes } from '../../src/load/simulate.js';
import { CONSTANT, exponentialService, poissonTrial, spreadOf, summarized } from './support.js';

// Mean waits in units of the service time: rho / (2 (1 - rho)) for M/D/1, rho / (1 - rho) for M/M/1. Percentiles of the
// latency for M/D/1 are exact values of Erlang's formula.
const RUNS = 20;
const QUERIES = 20_000;

const QUEUES: readonly (readonly [string, (seed: number) => ServiceTimes, (rho: number) => number])[] = [
  ['constant', () => CONSTANT, (rho) => rho / (2 * (1 - rho))],
  ['exponential', exponentialService, (rho) => rho / (1 - rho)],
];

for (const [name, serviceOf, waitOf] of QUEUES) {
  for (const rho of [0.3, 0.6, 0.8]) {
    test(`the mean wait with ${name} service at a utilization of ${rho} is that of queueing theory`, () => {
      const means: number[] = [];
      const all: number[] = [];
      for (let run = 0; run < RUNS; run++) {
        const trial = poissonTrial(rho, QUERIES, 1000 * run + 7, serviceOf(run + 1));
        assert.equal(trial.records.length, QUERIES);
        const summary = summarized(trial);
        means.push(summary.waitMeanMs ?? NaN);
        assert.ok(Math.abs(summary.littleError ?? 1) < 0.02, `Little's law is off by ${summary.littleError}`);
        for (const { finishedMs, scheduledMs } of trial.records) all.push(finishedMs - scheduledMs);
      }
      const { mean, error } = spreadOf(means);
      assert.ok(Math.abs(mean - waitOf(rho)) < 3 * error, `${mean} ± ${error} instead of ${waitOf(rho)}`);
      const exact = new Map([
        [0.3, 2.891],
        [0.6, 5.53],
        [0.8, 11.356],
      ]).get(rho);
      if (name !== 'constant' || exact === undefined) return;
      const p99 = nearestRank(Float64Array.from(all).sort(), 0.99);
      assert.ok(Math.abs(p99 / exact - 1) < 0.03, `p99 ${p99} instead of ${exact}`);
    });
  }
}
