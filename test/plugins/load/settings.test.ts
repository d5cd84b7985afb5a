import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkSettings, runSizes, parseValues, settingsSchema } from '../../../plugins/load/settings.js';
import { leastTrialMs, lengthOfTrials, lengthProblem } from '../../../plugins/load/trial-length.js';
import { firstSeed, planTrials } from '../../../plugins/load/trials.js';

function problemWith(settings: object, { agents = 1, isDeployed = false, hasModels = true } = {}): string {
  try {
    checkSettings(settingsSchema.parse(settings), { agents, isDeployed, hasModels });
    return '';
  } catch (error) {
    return String(error);
  }
}

test('settings that do not fit together are refused, each with its own message', () => {
  for (const [settings, message] of [
    [{ scenario: 'server' }, /needs rates \(--rate 50,100\), or a bound/],
    [{ scenario: 'server', rates: [0] }, /a number above 0/],
    [{ scenario: 'replay' }, /needs arrivals/],
    [{ scenario: 'clients' }, /the scenario clients needs numbers of clients \(--clients 1,2,4\)/],
    [{ scenario: 'replay', arrivals: [5, 1] }, /arrival 2 is before the one above it/],
    [{ scenario: 'replay', arrivals: [0, 1_732_870_000_000] }, /the last arrival is 1732870000 s after the start/],
    [
      { scenario: 'clients', clients: [1], batches: [4], batch_limit: 2 },
      /a query of 4 samples does not fit into runs of at most 2/,
    ],
    [{ scenario: 'server', rates: [1], batches: [1, 2] }, /takes one --batch/],
    [{ scenario: 'batch', queries: 150_000 }, /sends all queries at once, and at most 100000 can wait/],
    [{ scenario: 'server', rates: [1], batch_limit: 65 }, /runs of 65 sizes can occur, and 64 models .*--batch-limit/],
    [{ scenario: 'clients', clients: [1], batches: [1, 2], batch_limit: 128 }, /runs of 128 sizes can occur/],
    [{ scenario: 'replay', arrivals: [0, [5, 65]] }, /runs of 65 sizes can occur/],
    [{ bound: '20ms' }, /a bound, as in 20ms@p99/],
    [{ measure: false }, /nothing to do/],
  ] as const) {
    assert.match(problemWith(settings), message);
  }
  assert.equal(problemWith({ scenario: 'server', bound: '20ms@p99' }), '');
});

test('runs of more sizes than an agent has open are refused only where an agent has them', () => {
  const many = { scenario: 'clients', clients: [1], batch_limit: 65, predict: true };
  assert.match(problemWith(many), /runs of 65 sizes/);
  assert.equal(problemWith({ ...many, measure: false }), '');
  assert.equal(problemWith(many, { isDeployed: true }), '');
  // One size for each trial.
  assert.equal(problemWith({ scenario: 'batch', batches: Array.from({ length: 65 }, (_, one) => one + 1) }), '');
  assert.equal(problemWith({ scenario: 'clients', clients: [1], batches: [4], batch_limit: 256 }), '');
});

test('trials that cannot end are refused, with the option that makes them shorter', () => {
  for (const [settings, message] of [
    // 10 queries over the bound of 1 in 100,000: MLPerf's early stopping asks for more than 2,000,000.
    [
      { scenario: 'server', bound: '20ms@p99.999' },
      /a trial for 20ms@p99.999 has 2\d{6} queries, and 1000000 is .*--bound/,
    ],
    [{ bound: '20ms@p99.999' }, /a trial for 20ms@p99.999 has 2\d{6} queries/],
    [{ scenario: 'server', rates: [1, 1000], least_ms: 2e6 }, /2000 s at 1000\/s has more than 1000000 .*--duration/],
    // 2010 queries, and 2010 more.
    [{ scenario: 'server', rates: [0.1, 0.05] }, /take about 1005 min; each has 2010 queries.*--queries.*; 720 min is/],
    [{ scenario: 'clients', clients: [1, 2], least_ms: 4e7 }, /take about 1333 min; a shorter length \(--duration\)/],
    [{ scenario: 'server', bound: '20ms@p99', least_ms: 3.6e6 }, /\(a search has some 15\) take about 900 min; a sh/],
  ] as const) {
    assert.match(problemWith(settings), message);
  }
  for (const settings of [
    { scenario: 'server', bound: '20ms@p99.999', queries: 500_000 },
    { scenario: 'server', rates: [0.1], measure: false, predict: true },
    { scenario: 'server', bound: '20ms@p99' },
    { scenario: 'replay', arrivals: [0, 1], bound: '20ms@p99.999' },
  ]) {
    assert.equal(problemWith(settings), '');
  }
});

test('how long a search takes follows from the rate that a model has', () => {
  const settings = settingsSchema.parse({ scenario: 'server', bound: '20ms@p99.99' });
  // 10 queries over the bound of 1 in 10,000 by early stopping.
  assert.match(
    lengthOfTrials(settings, 100).text,
    /\(a search has some 15\) take about 504 min; each has 20\d{4} queries/,
  );
  assert.match(lengthProblem(settings, 50) ?? '', /take about 1007 min.*--bound.*; 720 min is the most/);
  const usual = settingsSchema.parse({ scenario: 'server', bound: '20ms@p90' });
  assert.deepEqual([lengthOfTrials(usual, 1000).ms, lengthProblem(usual, 1000)], [150_000, undefined]);
  const thrice = settingsSchema.parse({ ...settings, searches: 3 });
  assert.match(lengthProblem(thrice, 100) ?? '', /\(each of 3 searches has some 15\) take about 1511 min/);
  // Trials of many queries are no longer than a million of them.
  assert.equal(leastTrialMs({ ...usual, least_ms: 60_000 }, 100_000), 10_000);
});

test('a value of an option that is out of its limits is refused with the name of the option', () => {
  for (const [settings, message] of [
    [{ scenario: 'clients', think_ms: 120_000 }, /^think_ms \(--think\): expected a number from 0 to 60000$/],
    [{ least_ms: 2 * 86_400_000 }, /^least_ms \(--duration\): expected a number from 0 to 43200000$/],
    [{ rates: Array.from({ length: 101 }, (_, rate) => rate + 1) }, /^rates \(--rate\): expected at most 100 values$/],
    [{ arrivals: Array(100_001).fill(0) }, /^arrivals \(--arrivals\): expected at most 100000 arrivals$/],
  ] as const) {
    assert.throws(() => parseValues(settings), { code: 'usage', message });
  }
});

test('a setting that a load does not use is refused, with what it is for', () => {
  for (const [settings, message] of [
    [{ rates: [1] }, /^the scenario single does not use rates \(--rate\) here; it is for --scenario server$/],
    [{ clients: [4] }, /single does not use clients \(--clients\) here; it is for --scenario clients$/],
    [{ scenario: 'server', rates: [1], think_ms: 5 }, /server does not use think_ms \(--think\).*--scenario clients$/],
    [{ arrivals: [1, 2] }, /single does not use arrivals \(--arrivals\).*--scenario replay$/],
    [{ scenario: 'batch', scale: 3 }, /batch does not use scale \(--scale\).*--scenario replay$/],
    [{ scenario: 'batch', bound: '1s@p90' }, /does not use bound .*--scenario single, clients, server or replay$/],
    [{ scenario: 'batch', batch_limit: 8 }, /does not use batch_limit .*--scenario clients, server or replay$/],
    [{ scenario: 'batch', least_ms: 5 }, /does not use least_ms \(--duration\)/],
    [{ scenario: 'replay', arrivals: [1, 2], batches: [4] }, /replay does not use batches \(--batch\)/],
    [{ scenario: 'replay', arrivals: [1, 2], queries: 4 }, /replay does not use queries \(--queries\)/],
    [{ max_wait_ms: 2 }, /single does not use max_wait_ms \(--max-wait\)/],
    [{ scenario: 'server', rates: [1], max_wait_ms: 2 }, /max_wait_ms .* whose queries share runs \(--batch-limit\)$/],
    [{ scenario: 'replay', arrivals: [1, 2], max_wait_ms: 2 }, /max_wait_ms/],
    [{ scenario: 'server', rates: [1], searches: 3 }, /server does not use searches .* without --rate$/],
    [{ scenario: 'server', bound: '1s@p90', searches: 3, measure: false, predict: true }, /searches .* that measures/],
    [
      { dispatch: 'queue' },
      /does not use dispatch \(--dispatch\) here; it is for a load of several agents \(--agents\)$/,
    ],
  ] as const) {
    assert.match(problemWith(settings).replace(/^.*?: /, ''), message);
  }
  for (const settings of [
    { batches: [1], think_ms: 0, dispatch: 'turns' },
    { scenario: 'clients', clients: [4], think_ms: 5, batch_limit: 4, max_wait_ms: 2 },
    { scenario: 'replay', arrivals: [1, [2, 4]], max_wait_ms: 2, scale: 2 },
    { scenario: 'server', bound: '1s@p90', searches: 3 },
  ]) {
    assert.equal(problemWith(settings), '');
  }
  assert.equal(problemWith({ dispatch: 'queue' }, { agents: 2 }), '');
});

test('settings of runs are refused where a server of others makes the runs', () => {
  const isDeployed = { isDeployed: true };
  const asked = { scenario: 'clients', clients: [4], batch_limit: 4 };
  assert.match(problemWith(asked, isDeployed), /clients does not use batch_limit \(--batch-limit\) .*--deployment/);
  const waiting = { ...asked, max_wait_ms: 2 };
  assert.match(
    problemWith({ ...waiting, dispatch: 'queue' }, { ...isDeployed, agents: 2 }),
    /max_wait_ms .*--deployment/,
  );
  assert.equal(problemWith({ ...asked, dispatch: 'queue' }, { ...isDeployed, agents: 2 }), '');
  assert.equal(problemWith({ ...waiting, predict: true }, isDeployed), '');
  assert.equal(problemWith({ scenario: 'clients', clients: [4], batches: [2] }, isDeployed), '');
});

test('settings of models are refused where there are only generated texts', () => {
  const textsOnly = { hasModels: false, agents: 2 };
  const asked = { scenario: 'server', rates: [1], predict: true };
  for (const [setting, name] of [
    [{ batches: [4] }, /batches \(--batch\)/],
    [{ batch_limit: 4 }, /batch_limit \(--batch-limit\)/],
    [{ batch_limit: 4, max_wait_ms: 2 }, /batch_limit \(--batch-limit\)/],
    [{ max_wait_ms: 2 }, /max_wait_ms \(--max-wait\)/],
    [{ rates: undefined, bound: '1s@p90', searches: 2 }, /searches \(--searches\)/],
    [{ dispatch: 'queue' }, /dispatch \(--dispatch\)/],
  ] as const) {
    const problem = problemWith({ ...asked, ...setting }, textsOnly);
    assert.match(problem, name);
    assert.match(problem, /it is for models, not for generated texts$/);
  }
  assert.equal(problemWith({ ...asked, queries: 10, least_ms: 5, seed: 2 }, textsOnly), '');
});

test('models are opened for every size of a run that can occur', () => {
  assert.deepEqual(runSizes([1], 4), [1, 2, 3, 4]);
  assert.deepEqual(runSizes([2, 3], 6), [2, 3, 4, 5, 6]);
  assert.deepEqual(runSizes([4], 4), [4]);
});

test('searches have seeds of their own, and the first one those of the prediction', () => {
  const seeds = [0, 1, 2].map((search) => firstSeed({ seed: 7 }, search));
  assert.equal(seeds[0], 7);
  // A search has up to some 200 trials.
  assert.ok((seeds[1] ?? 0) - 7 > 200 && (seeds[2] ?? 0) - (seeds[1] ?? 0) > 200, seeds.join());
});

test('a trial has as many queries as its percentile needs', () => {
  const lengths = (settings: object): readonly number[] => {
    const all = planTrials(settingsSchema.parse(settings), undefined);
    return all.map(({ options: { plan } }) => (plan.kind === 'open' ? plan.arrivals.length : plan.queries));
  };
  // 2010 queries have room for 10 over p99.
  assert.deepEqual(lengths({ scenario: 'server', rates: [10, 20] }), [2010, 2010]);
  assert.deepEqual(lengths({ scenario: 'batch', batches: [1, 8], queries: 5 }), [5, 5]);
  assert.deepEqual(lengths({ scenario: 'clients', clients: [1, 2], batches: [1, 4], queries: 7 }), [7, 7, 7, 7]);
  assert.deepEqual(lengths({ scenario: 'replay', arrivals: [0, [3, 2], 9] }), [3]);
});
