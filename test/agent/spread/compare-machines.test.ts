import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compareMachines, requestsToCompare } from '../../../src/agent/spread/compare-machines.js';
import { COLD, requestsFor } from './requests.js';
import { near } from '../../support/near.js';

function compared(...machines: readonly (readonly (number | undefined)[])[]) {
  return compareMachines(machines.map((ms, index) => ({ machine: `m${index}`, ms })));
}

describe('the requests that machines are compared by', () => {
  it('are a tenth of the bricks, 16 at most, and the same each time', () => {
    const requests = [...requestsFor(50), ...requestsFor(95, { context: COLD })];
    const chosen = requestsToCompare(requests);
    assert.equal(chosen.length, 10);
    assert.ok(chosen.every(({ context }) => context === COLD));
    assert.deepEqual(requestsToCompare(requests.toReversed()), chosen);
    assert.equal(requestsToCompare(requestsFor(1000, { context: COLD })).length, 16);
  });

  it('are whole models where there are no bricks', () => {
    assert.equal(requestsToCompare(requestsFor(3)).length, 1);
    assert.deepEqual(requestsToCompare([]), []);
  });
});

describe('machines that are compared', () => {
  it('differ by the standard deviation of the total time of the same requests', () => {
    // Sums 9, 10 and 11: mean 10, standard deviation 1.
    const { spread, requests, outliers } = compared([4, 5], [5, 5], [5, 6]);
    assert.deepEqual([spread?.machines, requests, outliers], [3, 2, []]);
    near(spread?.relative, 0.1);
  });

  it('are compared by the requests that succeeded on all of them', () => {
    const { spread, requests } = compared([4, 100], [4, undefined]);
    assert.deepEqual([spread, requests], [{ machines: 2, benchmarks: 1, relative: 0 }, 1]);
    assert.deepEqual(compared([4, undefined], [undefined, 4]), { requests: 0, outliers: [], spread: undefined });
  });

  it('have an outlier named, whose time does not count', () => {
    const { outliers, spread } = compared([10], [10.1], [15], [9.9]);
    assert.deepEqual(
      outliers.map(({ machine }) => machine),
      ['m2'],
    );
    // The median of 9.9, 10, 10.1 and 15.
    near(outliers[0]?.difference, 15 / 10.05 - 1);
    // 9.9, 10 and 10.1 have a standard deviation of 0.1.
    near(spread?.relative, 0.01);
    assert.equal(spread?.machines, 3);
  });

  it('have no outlier where all differ, where one differs by little, and where there are two', () => {
    assert.deepEqual(compared([10], [13], [16]).outliers, []);
    assert.deepEqual(compared([10], [10], [10.9]).outliers, []);
    const { outliers, spread } = compared([10], [20]);
    assert.deepEqual(outliers, []);
    // 10 and 20: mean 15, standard deviation the square root of 50.
    near(spread?.relative, Math.sqrt(50) / 15);
  });

  it('must be at least two', () => {
    assert.equal(compared([10]).spread, undefined);
    assert.equal(compared().spread, undefined);
  });
});
