import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkSettings, runSizes, settingsSchema } from '../../../plugins/load/settings.js';
import { planTrials } from '../../../plugins/load/trials.js';

function problemWith(settings: object): string {
  try {
    checkSettings(settingsSchema.parse(settings));
    return '';
  } catch (error) {
    return String(error);
  }
}

test('settings that do not fit together are refused, each with its own message', () => {
  for (const [settings, message] of [
    [{ scenario: 'server' }, /needs rates \(--rate 50,100\), or a bound/],
    [{ scenario: 'server', rates: [0] }, /a number above 0/],
    [{ scenario: 'single', rates: [1] }, /rates \(--rate\) are for --scenario server/],
    [{ scenario: 'replay' }, /needs arrivals/],
    [{ scenario: 'replay', arrivals: [5, 1] }, /arrival 2 is before the one above it/],
    [{ scenario: 'single', arrivals: [1, 2] }, /arrivals \(--arrivals\) are for --scenario replay/],
    [{ scenario: 'single', batches: [4], batch_limit: 2 }, /a query of 4 samples does not fit into runs of at most 2/],
    [{ scenario: 'server', rates: [1], batches: [1, 2] }, /takes one --batch/],
    [{ bound: '20ms' }, /a bound, as in 20ms@p99/],
    [{ measure: false }, /nothing to do/],
  ] as const) {
    assert.match(problemWith(settings), message);
  }
  assert.equal(problemWith({ scenario: 'server', bound: '20ms@p99' }), '');
});

test('models are opened for every size of a run that can occur', () => {
  assert.deepEqual(runSizes([1], 4), [1, 2, 3, 4]);
  assert.deepEqual(runSizes([2, 3], 6), [2, 3, 4, 5, 6]);
  assert.deepEqual(runSizes([4], 4), [4]);
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
