import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  addError,
  chanceOfSearch,
  type EstimatedTimes,
  NO_COSTS,
  predictRate,
  predictTrial,
  weighTimes,
} from '../../../plugins/load/predict.js';
import { predictGeneration } from '../../../plugins/load/generation.js';
import { isPartial } from '../../../plugins/load/load-result.js';
import { shownLoad } from '../../../plugins/load/load-table.js';
import { buildRow } from '../../../plugins/load/measure-trials.js';
import { Slowness } from '../../../plugins/load/stand-in.js';
import { settingsSchema } from '../../../plugins/load/settings.js';
import { serverTrial, planTrials } from '../../../plugins/load/trials.js';
import { NO_BATCHING } from '../../../src/load/batcher.js';
import { simulateTrial } from '../../../src/load/simulate.js';
import { toSystemDocument } from '../../../src/measurement/system-document.js';
import { SYSTEM } from '../../store/sample-measurement.js';
import { loadedChain } from '../dlbricks/support/chain-model.js';
import { near } from '../../support/near.js';

const times = (low: number, value: number, high: number): EstimatedTimes => ({
  low: [{ batch: 1, ms: low }],
  value: [{ batch: 1, ms: value }],
  high: [{ batch: 1, ms: high }],
});

const predicting = (of: EstimatedTimes, costs = NO_COSTS) => ({
  times: of,
  costs,
  agents: 1,
  waitMs: 0,
});

const settings = (given: object) => settingsSchema.parse({ scenario: 'server', rates: [1], queries: 20_000, ...given });

test('a prediction is the queue of the estimate, with an interval from both of its ends', () => {
  // M/D/1 with s = 10 ms at 50/s: p99 is 4.336 s.
  const plan = serverTrial(settings({}), 50, 3, undefined);
  const { low, value, high, utilization, growth, reason } = predictTrial(plan, predicting(times(9.5, 10, 10.5)));
  assert.equal(reason, null);
  assert.ok(low && value && high);
  assert.ok(Math.abs((value.p99_ms ?? 0) / 43.36 - 1) < 0.1, `${value.p99_ms}`);
  assert.ok((low.p99_ms ?? 0) < (value.p99_ms ?? 0) && (value.p99_ms ?? 0) < (high.p99_ms ?? 0));
  // The schedule's own rate differs a little from 50/s.
  assert.ok(utilization !== null && Math.abs(utilization - 0.5) < 0.01, `${utilization}`);
  assert.ok(growth !== null && Math.abs(growth - 3) < 0.05, `${growth}`);
});

test('the cost of handing a query over is part of its latency, and the pause between runs of the utilization', () => {
  const plan = serverTrial(settings({}), 1, 3, undefined);
  const { value, utilization } = predictTrial(
    plan,
    predicting(times(10, 10, 10), { handoverMs: 2, returnMs: 5, betweenMs: 10 }),
  );
  assert.equal(Number(value?.p50_ms?.toFixed(6)), 12);
  assert.ok(utilization !== null && Math.abs(utilization - 0.02) < 0.0005, `${utilization}`);
});

/** Runs of a stand-in of 8 ms, 10 ms after pauses of 4 ms or more, twice as long in some blocks; handed over in 1 or 3 ms. */
function observed(slowBlocks: number) {
  const blocks = Array.from({ length: 20 }, (_, index) => {
    const factor = index < slowBlocks ? 2 : 1;
    const dense = Array.from({ length: 8 }, (_unused, at) => ({ atMs: 10 * at, pauseMs: 0.1, ms: 8 * factor }));
    const paused = [1, 2, 4, 8, 16, 32].map((pauseMs, at) => {
      return { atMs: 80 + 25 * at, pauseMs, ms: (pauseMs < 4 ? 8 : 10) * factor };
    });
    const handovers = paused.map((run) => ({ ...run, ms: run.pauseMs < 4 ? 1 : 3 }));
    return { dense, paused, handovers };
  });
  return new Slowness([{ blocks, blockMs: 250, ...NO_COSTS }]);
}

test('a query after a pause waits for its run as long as the queries of a stand-in do', () => {
  const p50At = (pauseMs: number): number => {
    const arrivals = Array.from({ length: 500 }, (_, index) => ({ atMs: index * (20 + pauseMs), samples: 1 }));
    const options = {
      plan: { kind: 'open', arrivals },
      bound: undefined,
      dispatch: 'turns',
      seed: 1,
      limit: 1,
    } as const;
    const plan = { samples: [1], limit: 1, clients: null, seed: 1, options };
    const { value } = predictTrial(plan, { ...predicting(times(10, 10, 10)), slowness: observed(0) });
    return value?.p50_ms ?? NaN;
  };
  // Runs of 10 ms, 12.5 ms after a pause.
  near(p50At(20), 15.5);
});

test('runs after a pause take longer, as those of a stand-in do', () => {
  const serviceAt = (rate: number) => {
    const plan = serverTrial(settings({ queries: 500 }), rate, 3, undefined);
    return predictTrial(plan, { ...predicting(times(9, 10, 11)), slowness: observed(0) });
  };
  const seldom = serviceAt(1);
  assert.ok(Math.abs((seldom.slowdown ?? 0) - 1.25) < 0.005, `${seldom.slowdown}`);
  assert.ok(Math.abs((seldom.service_ms ?? 0) / 12.5 - 1) < 0.02, `${seldom.service_ms}`);
  const often = serviceAt(70);
  assert.ok(often.slowdown !== null && often.slowdown > 1.02 && often.slowdown < 1.15, `${often.slowdown}`);
  // The ends of the estimate's interval are in that of the service.
  const { service_low_ms: low, service_high_ms: high } = seldom;
  assert.ok(low !== null && high !== null && low < 11.5 && high > 13.4, `${low} to ${high}`);
});

test('times at which the machine is slow widen the interval, and raise the tail', () => {
  const plan = serverTrial(settings({ queries: 1000 }), 40, 3, undefined);
  const at = (slowBlocks: number) => {
    const { low, value, high } = predictTrial(plan, {
      ...predicting(times(10, 10, 10)),
      slowness: observed(slowBlocks),
    });
    assert.ok(low?.p99_ms && value?.p99_ms && high?.p99_ms);
    return { p99: value.p99_ms, width: high.p99_ms - low.p99_ms };
  };
  const quiet = at(0);
  const busy = at(4);
  assert.ok(busy.p99 > 1.3 * quiet.p99, `${busy.p99} and ${quiet.p99}`);
  assert.ok(busy.width > 3 * quiet.width, `${busy.width} and ${quiet.width}`);
});

test('two observations count together, and an undisturbed quarter of them is what estimates are of', () => {
  const run = (ms: number) => ({ atMs: 0, pauseMs: 0.1, ms });
  const of = (ms: number) => ({
    blocks: [{ paused: [], handovers: [], dense: [run(ms), run(ms)] }],
    blockMs: 100,
    ...NO_COSTS,
  });
  const slowness = new Slowness([of(10), of(15)]);
  assert.equal(slowness.undisturbedMs, 10);
  assert.deepEqual(slowness.denseMeans(), [1, 1.5]);
  assert.deepEqual(slowness.after(50), [1, 1, 1.5, 1.5]);
  near(slowness.drift(), 1.96 * 0.2);
  assert.equal(new Slowness([of(10), of(10)]).drift(), 0);
});

test('runs of a slow moment follow each other, as they did in the observation', () => {
  const runs = Array.from({ length: 100 }, (_, index) => ({
    atMs: 10 * index,
    pauseMs: 0.1,
    ms: index < 50 ? 20 : 10,
  }));
  const block = { paused: [], handovers: [], dense: runs };
  const { slowdown } = new Slowness([{ blocks: [block, block], blockMs: 1000, ...NO_COSTS }]).sampler(1);
  for (const atMs of [0, 490, 3100, 7400]) assert.equal(slowdown(atMs, 0.1), 2);
  for (const atMs of [500, 990, 3600, 7900]) assert.equal(slowdown(atMs, 0.1), 1);
});

test('stored runs of the whole model give the queue their variance', () => {
  // M/G/1: half of the runs take nothing and half of them twice the mean, so c² = 1, and mean waits double.
  const plan = serverTrial(settings({}), 50, 3, undefined);
  const constant = predictTrial(plan, predicting(times(10, 10, 10)));
  const varying = predictTrial(plan, { ...predicting(times(10, 10, 10)), runTimes: [0, 2] });
  assert.equal(constant.service_variation, null);
  assert.ok(Math.abs((varying.service_variation ?? 0) - 1) < 0.05, `${varying.service_variation}`);
  assert.ok((varying.value?.p99_ms ?? 0) > 1.5 * (constant.value?.p99_ms ?? Infinity));
});

test('a further estimate of a time is weighed by its precision', () => {
  const estimate = times(10 / 1.2, 10, 10 * 1.2);
  const equal = weighTimes(estimate, { batch: 1, ms: 11, error: Math.log(1.2) });
  near(equal.value[0]?.ms, Math.sqrt(110));
  near(equal.high?.[0]?.ms, Math.sqrt(110) * 1.2 ** Math.SQRT1_2);
  near(equal.low?.[0]?.ms, Math.sqrt(110) / 1.2 ** Math.SQRT1_2);
  const sharp = weighTimes(estimate, { batch: 1, ms: 11, error: 0.001 });
  near(sharp.value[0]?.ms, 11, 1e-4);
  near(sharp.high?.[0]?.ms, 11, 2e-3);
  const without = { ...estimate, low: undefined };
  assert.deepEqual(weighTimes(without, { batch: 1, ms: 11, error: 0.01 }), without);
});

test('two estimates that contradict each other have a wide interval', () => {
  const { low, value, high } = weighTimes(times(9.9, 10, 10.1), { batch: 1, ms: 14, error: 0.01 });
  assert.ok((low?.[0]?.ms ?? 0) < 10.5 && (high?.[0]?.ms ?? 0) > 13.5);
  near(value[0]?.ms, Math.sqrt(140), 1e-3);
});

test('the error of a stand-in widens the interval of the estimate, in quadrature', () => {
  const { low, value, high } = addError(times(9.4, 10, 10.6), 0.08);
  near(low?.[0]?.ms, 9);
  near(high?.[0]?.ms, 11);
  assert.deepEqual(value, times(9, 10, 11).value);
  assert.equal(addError({ ...times(9, 10, 11), low: undefined }, 0.08).low, undefined);
});

test('near saturation the prediction is refused, with the rates that are safe', () => {
  const plan = serverTrial(settings({ queries: 100 }), 100, 3, undefined);
  const { value, reason } = predictTrial(plan, predicting(times(9, 9.9, 10.5)));
  assert.equal(value, null);
  assert.match(reason ?? '', /utilization 1\.\d+.*rates below 95\.2\/s are safe/);
});

test('where simulated trials are cut off, a prediction says how many instead of percentiles', () => {
  const bound = { ms: 15, share: 0.99 };
  const plan = serverTrial(settings({ queries: 1000, bound: '15ms@p99' }), 50, 3, bound);
  const predicted = predictTrial(plan, predicting(times(9, 10, 11)));
  assert.deepEqual([predicted.value?.p50_ms, predicted.value?.holds], [null, false]);
  assert.match(predicted.reason ?? '', /^3 of 3 simulated trials are cut off: \d+ queries are over the bound/);
  const row = { ...buildRow(loadedChain('chain', 'Relu'), plan), measured: null, predicted };
  const base = {
    provenance: null,
    agents: 1,
    overheads: [],
    rates: [],
    batches: [],
    generations: [],
    unusable: [],
    warnings: [],
  };
  const asked = { scenario: 'server', bound: '15ms@p99', dispatch: 'turns', seed: 3, deployment: null } as const;
  const waits = { think_ms: 0, max_wait_ms: 0, least_ms: 0 };
  const result = { ...base, system: toSystemDocument(SYSTEM), rows: [row], settings: { ...asked, ...waits } };
  const text = shownLoad(result, { wide: false }).text({ color: false, width: undefined });
  assert.match(text, /│ chain │ +\S+ │ +- │ +- │/);
  assert.match(text, /^chain, \S+\/s: no predicted percentiles: 3 of 3 simulated trials are cut off/m);
  assert.equal(isPartial(result), false);
});

test('without an interval of the estimate, a prediction has none', () => {
  const plan = serverTrial(settings({ queries: 1000 }), 10, 3, undefined);
  const of = { ...times(0, 10, 0), low: undefined, high: undefined };
  const { low, value, high } = predictTrial(plan, predicting(of));
  assert.deepEqual([low, high], [null, null]);
  assert.ok(value !== null);
});

test('the largest rate is predicted as an interval', () => {
  const bound = { ms: 50, share: 0.99 };
  const asked = settings({ bound: '50ms@p99' });
  const trialAt = (rate: number, seed: number) => serverTrial(asked, rate, seed, bound);
  const search = { trialAt, startRate: () => 50, seed: 1 };
  const rate = predictRate(search, predicting(times(9.5, 10, 10.5)));
  const { low_per_second: low, value_per_second: value, high_per_second: high } = rate;
  assert.ok(low !== null && value !== null && high !== null && low < value && value < high);
  // Largest utilization of M/D/1 for 5 s at p99: 0.561. Early stopping asks for more than the share itself.
  assert.ok(value > 50 && value < 58, `${value}`);
  const tooFast = (perSecond: number, seed: number) => serverTrial(asked, perSecond, seed, { ms: 5, share: 0.99 });
  const impossible = predictRate({ ...search, trialAt: tooFast }, predicting(times(9, 10, 11)));
  assert.equal(impossible.value_per_second, null);
  assert.match(impossible.reason ?? '', /no rate holds the bound/);
});

const WITHIN_40_MS = { ms: 40, share: 0.9 };

/** A search of the largest rate, with trials of so many queries. */
const searchOf = (queries: number) => ({
  trialAt: (perSecond: number, seed: number) => serverTrial(settings({ queries }), perSecond, seed, WITHIN_40_MS),
  startRate: () => 50,
  seed: 1,
});

test('a predicted search has the schedules of the measured one, so that their chance is no error', () => {
  const { low_per_second: low, high_per_second: high } = predictRate(searchOf(200), {
    ...predicting(times(10, 10, 10)),
    runTimes: [1],
  });
  assert.ok(low !== null);
  assert.equal(low, high);
});

test('searches with other schedules find other rates, and the less so the longer their trials are', () => {
  const chanceWith = (queries: number): number => {
    const search = searchOf(queries);
    const { options } = search.trialAt(60, 1);
    const trial = simulateTrial(options, NO_BATCHING, [{ runMs: () => 10 }]);
    return chanceOfSearch(search, 1, [trial]) ?? NaN;
  };
  const short = chanceWith(150);
  const long = chanceWith(2500);
  assert.ok(short > 0.05 && short < 0.5, `${short}`);
  assert.ok(long > 0 && long < short / 2, `${long} and ${short}`);
});

test('how far searches differ by chance is not known where no server says when runs begin', () => {
  const search = searchOf(150);
  const { records, ...trial } = simulateTrial(search.trialAt(60, 1).options, NO_BATCHING, [{ runMs: () => 10 }]);
  const silent = { ...trial, records: records.map((record) => ({ ...record, startedMs: null })) };
  assert.equal(chanceOfSearch(search, 1, [silent]), undefined);
});

test('several agents are as many servers, which one common queue keeps busiest', () => {
  const p99Of = (dispatch: string): number => {
    const plan = serverTrial(settings({ dispatch }), 200, 3, undefined);
    const { value, utilization } = predictTrial(plan, {
      ...predicting(times(10, 10, 10)),
      agents: 3,
      runTimes: [0, 2],
    });
    assert.ok(utilization !== null && Math.abs(utilization - 2 / 3) < 0.02, `${utilization}`);
    return value?.p99_ms ?? NaN;
  };
  const [queue, turns, random] = ['queue', 'turns', 'random'].map(p99Of);
  assert.ok(queue && turns && random && queue < turns && turns < random, `${queue}, ${turns} and ${random}`);
});

test('clients are bounded by the service and by their number', () => {
  const [plan] = planTrials(
    settingsSchema.parse({ scenario: 'clients', clients: [3], think_ms: 40, queries: 2000 }),
    undefined,
  );
  assert.ok(plan);
  const { value } = predictTrial(plan, predicting(times(10, 10, 10)));
  // min(1 / s, k / (s + z)) = min(100, 60).
  assert.ok(Math.abs((value?.samples_per_second ?? 0) - 60) < 1, `${value?.samples_per_second}`);
});

const TEXT = {
  model: 'decoder',
  prompt: 128,
  tokens: 11,
  first_token_ms: 100,
  first_token_low_ms: 95,
  first_token_high_ms: 105,
  further_tokens_ms: 100,
  further_tokens_low_ms: 95,
  further_tokens_high_ms: 105,
};

test('the first token of a text waits for the whole texts before it', () => {
  const of = { settings: settings({ rates: [2.5] }), bound: undefined, costs: NO_COSTS };
  const [row] = predictGeneration(TEXT, of);
  assert.ok(row && row.reason === null);
  assert.equal(row.further_token_ms, 10);
  assert.equal(row.utilization, 0.5);
  // M/D/1 with s = 200 ms at 2.5/s: the latency's p99 is 4.336 s = 867 ms, of which the further tokens are 100.
  const { low, value, high } = row.first_token_p99_ms;
  assert.ok(low !== null && value !== null && high !== null && low < value && value < high);
  assert.ok(Math.abs(value / 767 - 1) < 0.1, `${value}`);
  const [busy] = predictGeneration(TEXT, { ...of, settings: settings({ rates: [5] }) });
  assert.match(busy?.reason ?? '', /rates below 4\.76\/s are safe/);
  const [unknown] = predictGeneration({ ...TEXT, first_token_ms: null }, of);
  assert.match(unknown?.reason ?? '', /no complete estimate/);
});

test('a bound on the first token gives the largest rate of texts', () => {
  const bound = { ms: 500, share: 0.9 };
  const of = { settings: settingsSchema.parse({ scenario: 'server', bound: '500ms@p90' }), bound, costs: NO_COSTS };
  const [row] = predictGeneration(TEXT, of);
  assert.ok(row?.offered_per_second != null && row.offered_per_second > 2 && row.offered_per_second < 4);
});
