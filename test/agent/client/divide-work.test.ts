import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { divideWork, type DivideOptions } from '../../../src/agent/client/divide-work.js';
import type { MeasureRequest } from '../../../src/agent/benchmark-agent.js';
import { SYSTEM } from '../../store/sample-measurement.js';
import { sampleRequests } from '../../work/sample-requests.js';

const { cacheBytes } = SYSTEM;

const divide = (requests: readonly MeasureRequest[], agents: number, limits: Partial<DivideOptions> = {}) =>
  divideWork(requests, { agents, cacheBytes, ...limits });

const lengths = (items: readonly (readonly unknown[])[]): readonly number[] => items.map(({ length }) => length);

describe('dividing work', () => {
  it('gives each request to one item, in order, so that agents share even one model', () => {
    const items = divide(sampleRequests(60), 2);
    assert.deepEqual(lengths(items), [15, 15, 15, 15]);
    assert.deepEqual(
      items.flat().map(({ index }) => index),
      Array.from({ length: 60 }, (_, index) => index),
    );
  });

  it('makes no item too small for a session, nor larger than allowed', () => {
    assert.deepEqual(lengths(divide(sampleRequests(12), 100)), [6, 6]);
    assert.deepEqual(lengths(divide(sampleRequests(7), 100)), [7]);
    assert.deepEqual(lengths(divide(sampleRequests(1000), 1)), [500, 500]);
    assert.ok(lengths(divide(sampleRequests(1000), 1, { mostRequests: 64 })).every((length) => length <= 64));
  });

  it('makes items of a model that differ by one request at most', () => {
    const items = divide(sampleRequests(10), 1, { mostRequests: 3 });
    assert.deepEqual(
      lengths(items).toSorted((a, b) => b - a),
      [3, 3, 2, 2],
    );
    assert.deepEqual(
      items.flat().map(({ index }) => index),
      Array.from({ length: 10 }, (_, index) => index),
    );
  });

  it('keeps contexts, occasions and ways of measuring apart, and small models together', () => {
    const other = sampleRequests(3, { context: { footprintBytes: 2 ** 26 } });
    const later = sampleRequests(3, { occasion: 2 });
    const small = [1, 2].flatMap((bytes) => sampleRequests(3, { modelBytes: bytes }));
    assert.deepEqual(lengths(divide([...sampleRequests(3), ...other, ...later], 1)), [3, 3, 3]);
    assert.deepEqual(lengths(divide(small, 1)), [6]);
  });

  it('keeps the bricks of a model together where a cache may hold a part of the model', () => {
    const context = { footprintBytes: 2 ** 24 };
    const two = [1, 2].flatMap((modelBytes) => sampleRequests(100, { context, modelBytes }));
    assert.deepEqual(lengths(divide(two, 8)), [100, 100]);
  });

  it('puts a benchmark that is measured alone into an item of its own', () => {
    assert.deepEqual(lengths(divide(sampleRequests(3, { context: undefined }), 1)), [1, 1, 1]);
  });

  it('limits the bytes of an item', () => {
    const large = sampleRequests(8).map((request) => {
      return { ...request, benchmark: { ...request.benchmark, model: new Uint8Array(2 ** 20) } };
    });
    assert.deepEqual(lengths(divide(large, 1)), [8]);
    assert.deepEqual(lengths(divide(large, 1, { mostBytes: 4 * 2 ** 20 })), [4, 4]);
    const each = Array.from({ length: 8 }, () => 1);
    assert.deepEqual(lengths(divide(large, 1, { mostBytes: 2 ** 19 })), each);
  });
});
