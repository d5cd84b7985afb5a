import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { divideWork } from '../../../src/agent/spread/divide-work.js';
import { CACHE_BYTES, COLD, requestFor, requestsFor, WARM } from './requests.js';

const two = { machines: 2, cacheBytes: CACHE_BYTES };

describe('work that is divided among machines', () => {
  it('has every request once', () => {
    const requests = [
      ...requestsFor(3),
      ...requestsFor(50, { context: COLD, modelBytes: 7 }),
      ...requestsFor(20, { context: WARM, modelBytes: 8 }),
    ];
    const indices = divideWork(requests, two).flat();
    assert.deepEqual(
      indices.toSorted((a, b) => a - b),
      [...requests.keys()],
    );
  });

  it('gives each whole model to whoever is free', () => {
    assert.deepEqual(divideWork(requestsFor(3), two), [[0], [1], [2]]);
  });

  it('keeps the bricks of a model together where caches hold a part of it, since a part of them would be warmer', () => {
    const requests = [0, 1, 2, 3].map((index) => requestFor(index, { context: WARM, modelBytes: index % 2 }));
    assert.deepEqual(divideWork(requests, two), [
      [0, 2],
      [1, 3],
    ]);
  });

  it('shares out bricks that no cache holds, of any models, in composites that pay', () => {
    const requests = requestsFor(100, { context: COLD }).map((request, index) => ({ ...request, modelBytes: index }));
    const sizes = divideWork(requests, two).map(({ length }) => length);
    assert.deepEqual(sizes, [25, 25, 25, 25]);
    assert.deepEqual(
      divideWork(requests.slice(0, 20), two).map(({ length }) => length),
      [16, 4],
    );
  });

  it('keeps occasions apart, which need a process each', () => {
    const requests = [1, 2, 1].map((occasion, index) => requestFor(index, { context: WARM, occasion }));
    assert.deepEqual(divideWork(requests, two), [[0, 2], [1]]);
  });
});
