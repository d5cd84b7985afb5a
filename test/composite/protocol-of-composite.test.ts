import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { protocolOfComposite } from '../../src/composite/protocol-of-composite.js';
import { PROTOCOL } from '../store/sample-measurement.js';

describe('the protocol of a composite', () => {
  test('has a quarter of the runs, since a model is a sum of many bricks', () => {
    assert.equal(protocolOfComposite({ ...PROTOCOL, runs: 50 }).runs, 13);
  });

  test('has at least three runs, unless fewer are asked for', () => {
    assert.equal(protocolOfComposite({ ...PROTOCOL, runs: 8, minRuns: 8 }).runs, 3);
    assert.equal(protocolOfComposite({ ...PROTOCOL, runs: 2, minRuns: 2 }).runs, 2);
  });

  test('has a fortieth of the time', () => {
    assert.equal(protocolOfComposite({ ...PROTOCOL, timeBudgetMs: 5000 }).timeBudgetMs, 125);
  });

  test('never has a minimum of runs above the number of runs, nor more than two warm-up runs', () => {
    const { runs, minRuns, warmupRuns } = protocolOfComposite({ ...PROTOCOL, runs: 50, minRuns: 50, warmupRuns: 9 });
    assert.ok(minRuns <= runs);
    assert.equal(minRuns, 3);
    assert.equal(warmupRuns, 2);
    assert.equal(protocolOfComposite({ ...PROTOCOL, warmupRuns: 0 }).warmupRuns, 0);
  });
});
