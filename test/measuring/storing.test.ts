import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Storing } from '../../src/measuring/storing.js';
import { PlatformError } from '../../src/base/errors.js';
import type { Measurement } from '../../src/measurement/measurement.js';
import { sampleMeasurement } from '../store/sample-measurement.js';

/** A store that begins each write at once and finishes it on `end()`. */
function heldStore() {
  const begun: Measurement[] = [];
  const ends: (() => void)[] = [];
  return {
    begun,
    end: () => ends.splice(0).forEach((end) => end()),
    putMeasurement(measurement: Measurement): Promise<void> {
      begun.push(measurement);
      return new Promise((resolve) => ends.push(resolve));
    },
  };
}

describe('storing the bricks of a composite', () => {
  test('does not wait for one measurement before the next', async () => {
    const store = heldStore();
    const storing = new Storing(store);
    for (let i = 0; i < 60; i++) await storing.put(sampleMeasurement(i));
    assert.equal(store.begun.length, 60);
    let isDone = false;
    const done = storing.done().then(() => (isDone = true));
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(isDone, false);
    store.end();
    await done;
  });

  test('keeps at most 64 writes in progress, so that no more are pending if the store does not answer', async () => {
    const store = heldStore();
    const storing = new Storing(store);
    for (let i = 0; i < 63; i++) await storing.put(sampleMeasurement(i));
    let isStored = false;
    const last = storing.put(sampleMeasurement(63)).then(() => (isStored = true));
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(isStored, false);
    store.end();
    await last;
  });

  test('fails with an error that the store throws at once, and leaves no rejection unhandled', async () => {
    const broken = { putMeasurement: () => Promise.reject(new PlatformError('storage', 'the disk is full')) };
    await assert.rejects(new Storing(broken).put(sampleMeasurement(0)), { code: 'storage' });
  });

  test('fails with an error that the store throws later: at the next measurement, or when it is done', async () => {
    for (const next of [(it: Storing) => it.put(sampleMeasurement(1)), (it: Storing) => it.done()]) {
      let refuse = (): void => {};
      const failed = new Promise<void>((_, reject) => (refuse = () => reject(new PlatformError('storage', 'full'))));
      const storing = new Storing({ putMeasurement: () => failed });
      await storing.put(sampleMeasurement(0));
      refuse();
      await assert.rejects(next(storing), { code: 'storage' });
    }
  });
});
