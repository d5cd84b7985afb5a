import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nearestRank } from '../../src/load/percentiles.js';
import { NO_BATCHING } from '../../src/load/batcher.js';
import { exponential, poissonArrivals } from '../../src/load/schedule.js';
import { type ServiceTimes, simulateTrial } from '../../src/load/simulate.js';
import { summarizeTrial } from '../../src/load/summary.js';
import type { Dispatch, Plan } from '../../src/load/trial.js';
import { CONSTANT, exponentialService, poissonTrial, spreadOf, summarized, xoshiro128pp } from './support.js';

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

const SERVERS = 3;

function ofServers(plan: Plan, dispatch: Dispatch, run: number) {
  const servers = Array.from({ length: SERVERS }, (_, server) => exponentialService(100 * run + server + 1));
  const trial = simulateTrial({ plan, dispatch, seed: run + 1, limit: 1 }, NO_BATCHING, servers);
  return summarizeTrial(trial.records, trial, { bound: undefined, servers: SERVERS, isOpen: plan.kind === 'open' });
}

function assertMean(values: readonly number[], exact: number): void {
  const { mean, error } = spreadOf(values);
  assert.ok(Math.abs(mean - exact) < 3 * error, `${mean} ± ${error} instead of ${exact}`);
}

// Mean waits of three servers at a utilization of 0.6. turns: E3/M/1, s / (1 - s) with s = (1.8 / (2.8 - s))^3;
// random: three queues M/M/1; queue: M/M/3 by Erlang's C.
for (const [dispatch, wait] of [
  ['turns', 0.8134],
  ['random', 1.5],
  ['queue', 0.2956],
] as const) {
  test(`the mean wait of three servers by ${dispatch} is that of queueing theory`, () => {
    const waits = Array.from({ length: RUNS }, (_, run) => {
      const arrivals = poissonArrivals({ perSecond: 600 * SERVERS, queries: QUERIES, seed: 1000 * run + 3 });
      return ofServers({ kind: 'open', arrivals }, dispatch, run).waitMeanMs ?? NaN;
    });
    assertMean(waits, wait);
  });
}

test('clients that think have the throughput of machines that are repaired', () => {
  // M/M/3//8 with a think time of 4 service times (the machine repairman): 1.5765 queries for each of them.
  const rates = Array.from({ length: RUNS }, (_, run) => {
    const next = xoshiro128pp(77 + run);
    const thinkMs = Array.from({ length: QUERIES + 11 }, () => 4 * exponential(next));
    const plan = { kind: 'closed', clients: 8, thinkMs, samples: 1, queries: QUERIES, leastMs: 0 } as const;
    return (ofServers(plan, 'queue', run).achievedPerSecond ?? NaN) / 1000;
  });
  assertMean(rates, 1.5765);
});
