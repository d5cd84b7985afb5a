import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { conditionsSchema, type Conditions } from '../../src/measurement/conditions.js';
import { machineWarnings, measurementWarnings } from '../../src/measurement/noise.js';
import { sampleMeasurement } from '../store/sample-measurement.js';

/** Conditions of one second on two cores. */
const QUIET: Conditions = { wallMs: 1000, cores: 2 };

function warningsOf(conditions: Partial<Conditions>, threads = 1): readonly (readonly [string, string])[] {
  const facts = { threads, cores: 2, again: 'and measure again', shared: undefined };
  const warnings = machineWarnings({ ...facts, conditions: [{ ...QUIET, ...conditions }] });
  return warnings.map(({ cause, message }) => [cause, message] as const);
}

describe('warnings of a noisy machine', () => {
  test('are absent on a quiet machine', () => {
    assert.deepEqual(warningsOf({ stealMs: 0, othersMs: 0, throttledMs: 0, lowestMhz: 3000, highestMhz: 3100 }), []);
  });

  // 120 of 2000 ms are 6 %; up to 5 % is usual.
  test('name the share of other processes, and the remedy', () => {
    const message = "other processes took 6.0 % of the processors' time; stop them and measure again";
    assert.deepEqual(warningsOf({ othersMs: 120 }), [['other_load', message]]);
    assert.deepEqual(warningsOf({ othersMs: 100 }), []);
  });

  // 1 % of 2000 ms is 20 ms, but less than three ticks of 10 ms may be a counting error.
  test('name the share that the hypervisor took', () => {
    assert.deepEqual(
      warningsOf({ stealMs: 30 }).map(([cause, message]) => [cause, /gave 1\.5 % of/.test(message)]),
      [['steal', true]],
    );
    assert.deepEqual(warningsOf({ stealMs: 29 }), []);
  });

  test('name pages that were read from the disk', () => {
    const message = '3 pages had to be read from the disk during the runs; free memory and measure again';
    assert.deepEqual(warningsOf({ majorFaults: 3 }), [['page_faults', message]]);
    assert.deepEqual(warningsOf({ majorFaults: 0 }), []);
  });

  test('name a CPU quota, a changing frequency, and more threads than cores', () => {
    const conditions = { throttledMs: 10, lowestMhz: 2000, highestMhz: 2200 };
    const [threads, quota, frequency] = warningsOf(conditions, 3);
    assert.deepEqual(threads, ['threads', '3 threads share 2 cores; ask for fewer with --threads']);
    assert.deepEqual([quota?.[0], /for 1\.0 % of the time/.test(quota?.[1] ?? '')], ['quota', true]);
    assert.deepEqual([frequency?.[0], /2000 to 2200 MHz/.test(frequency?.[1] ?? '')], ['frequency', true]);
  });
});

describe('warnings of measurements', () => {
  test('count the measurements that other processes disturbed, and name threads that share a core', () => {
    const loaded = sampleMeasurement(1, { conditions: { ...QUIET, othersMs: 500 } });
    const warnings = measurementWarnings([sampleMeasurement(0), loaded], { threads: 3, cores: 2 });
    assert.deepEqual(
      warnings.map(({ cause }) => cause),
      ['threads', 'other_load'],
    );
    // From the only measurement with `othersMs`: 500 of 2000 ms.
    assert.match(
      warnings[1]?.message ?? '',
      /^1 of 2 measurements was disturbed .* took 25\.0 % .*; stop them and measure them again with --remeasure disturbed \(remeasure: disturbed in manifests\)$/,
    );
  });

  test('count a measurement of several models once', () => {
    const loaded = sampleMeasurement(1, { conditions: { ...QUIET, othersMs: 500 } });
    const [warning] = measurementWarnings([loaded, loaded], { threads: 1, cores: 2 });
    assert.match(warning?.message ?? '', /^1 of 1 measurement was disturbed/);
  });

  test('ignore the time of conditions without `othersMs`', () => {
    const facts = { threads: 1, cores: 2, again: 'and measure again', shared: undefined };
    const [warning] = machineWarnings({ ...facts, conditions: [{ ...QUIET, othersMs: 120 }, QUIET] });
    assert.match(warning?.message ?? '', /^other processes took 6\.0 %/);
  });
});

test('a share of samples is from 0 to 1', () => {
  const accepted = [0, 0.5, 1, 1.1, -0.1].map((sharedShare) => conditionsSchema.safeParse({ ...QUIET, sharedShare }));
  assert.deepEqual(
    accepted.map(({ success }) => success),
    [true, true, true, false, false],
  );
});
