import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type NoiseFacts, noiseWarnings } from '../../../../plugins/dlbricks/report/warnings.js';
import { buildReport } from '../../../../plugins/dlbricks/report/report.js';
import type { Measurement } from '../../../../src/measurement/measurement.js';
import { sampleMeasurement } from '../../../store/sample-measurement.js';
import { endToEndOf, estimateOf, FAILURE, resultOf, SETTINGS, measurementOf } from './sample-result.js';

type Conditions = NonNullable<Measurement['conditions']>;

/** A measurement of one second on four cores, under these conditions. */
function under(conditions: Partial<Conditions>): Measurement {
  return sampleMeasurement(0, { conditions: { wallMs: 1000, cores: 4, ...conditions } });
}

/** Warnings of a machine with four cores, a cause and its message each. */
function warningsOf(measurements: readonly Measurement[], changes: Partial<NoiseFacts> = {}) {
  const warnings = noiseWarnings({
    measurements,
    spread: undefined,
    threads: 4,
    cores: 4,
    canRemeasure: true,
    ...changes,
  });
  return warnings.map(({ cause, message }) => [cause, message] as const);
}

function causesOf(...all: Parameters<typeof warningsOf>): readonly string[] {
  return warningsOf(...all).map(([cause]) => cause);
}

describe('a warning of noise', () => {
  test('is not made on a quiet machine, nor on one that records no conditions', () => {
    const quiet = under({ stealMs: 1, othersMs: 10, throttledMs: 1, lowestMhz: 3000, highestMhz: 3010 });
    assert.deepEqual(warningsOf([quiet], { spread: 0.01 }), []);
    assert.deepEqual(warningsOf([under({}), sampleMeasurement(0)]), []);
    assert.deepEqual(warningsOf([]), []);
  });

  test('names an option only of commands that have it', () => {
    const disturbed = [under({ othersMs: 800 })];
    const [[, here = ''] = assert.fail()] = warningsOf(disturbed, { spread: 0.1 });
    assert.match(here, /--remeasure disturbed/);
    const elsewhere = warningsOf(disturbed, { spread: 0.1, canRemeasure: false });
    assert.deepEqual(
      elsewhere.map(([cause, message]) => [cause, message.includes('--remeasure')]),
      [
        ['other_load', false],
        ['spread', false],
      ],
    );
  });

  test('has the share of time that other machines took, over all measurements that record it', () => {
    // 200 and 0 ms of two seconds on four cores.
    const [[cause, message] = assert.fail()] = warningsOf([under({ stealMs: 200 }), under({ stealMs: 0 }), under({})]);
    assert.equal(cause, 'steal');
    assert.match(message, /other machines/);
    assert.match(message, /2\.5 %/);
  });

  test('has the share of time that other processes took', () => {
    const [[cause, message] = assert.fail()] = warningsOf([under({ othersMs: 400 })]);
    assert.deepEqual([cause, /10\.0 %/.test(message)], ['other_load', true]);
  });

  test('is not made for failed measurements, regardless of their conditions', () => {
    const busy = { othersMs: 3000, stealMs: 2000, throttledMs: 900, sharedShare: 1, lowestMhz: 1000, highestMhz: 3000 };
    const failed = sampleMeasurement(0, { outcome: FAILURE, conditions: { wallMs: 1000, cores: 4, ...busy } });
    assert.deepEqual(warningsOf([failed, failed]), []);
    assert.notDeepEqual(warningsOf([failed, under(busy)]), []);
  });

  // The operating system counts in ticks of 10 ms.
  test('is not made for two ticks during runs of some milliseconds', () => {
    assert.deepEqual(
      warningsOf([under({ wallMs: 5, othersMs: 10, stealMs: 10 }), under({ wallMs: 5, othersMs: 10 })]),
      [],
    );
  });

  test('counts the measurements during which another machine ran on the same core, and names them once', () => {
    const calm = Array.from({ length: 3 }, () => under({ othersMs: 0, sharedShare: 0, droppedRuns: 9 }));
    assert.deepEqual(warningsOf(calm), []);
    const [[cause, message] = assert.fail(), ...others] = warningsOf([...calm, under({ sharedShare: 0.5 })]);
    assert.deepEqual([cause, others], ['shared_core', []]);
    assert.match(message, /during 1 of 4 measurements.*--remeasure disturbed/);
  });

  test('says how to measure again: disturbed measurements, or all', () => {
    const remedyOf = (conditions: Partial<Conditions>) => {
      return warningsOf([under(conditions)]).map(([, message]) => /--remeasure \w+/.exec(message)?.[0]);
    };
    assert.deepEqual(remedyOf({ othersMs: 400 }), ['--remeasure all']);
    assert.deepEqual(remedyOf({ othersMs: 2000 }), ['--remeasure disturbed']);
    assert.deepEqual(remedyOf({ stealMs: 200 }), ['--remeasure all']);
    assert.deepEqual(remedyOf({ throttledMs: 20 }), ['--remeasure all']);
    assert.deepEqual(remedyOf({ lowestMhz: 2000, highestMhz: 3000 }), ['--remeasure all']);
  });

  test('counts single measurements that others disturbed if others took little in total', () => {
    const calm = Array.from({ length: 19 }, () => under({ othersMs: 0 }));
    const [[cause, message] = assert.fail()] = warningsOf([...calm, under({ othersMs: 800 })]);
    assert.equal(cause, 'other_load');
    assert.match(message, /1 of 20 measurements was disturbed/);
  });

  test('has the share of time for which a quota throttled runs, for any number of cores', () => {
    const [[cause, message] = assert.fail()] = warningsOf([under({ throttledMs: 20 })]);
    assert.deepEqual([cause, /2\.0 %/.test(message)], ['quota', true]);
  });

  test('has the frequencies between which the processor ran, of all measurements', () => {
    const seen = [under({ lowestMhz: 2900, highestMhz: 3000 }), under({ lowestMhz: 2000, highestMhz: 2900 })];
    const [[cause, message] = assert.fail()] = warningsOf(seen);
    assert.deepEqual([cause, /2000 to 3000 MHz/.test(message)], ['frequency', true]);
  });

  test('is made for more threads than cores', () => {
    assert.deepEqual(causesOf([], { threads: 5 }), ['threads']);
    assert.deepEqual(causesOf([], { threads: 4 }), []);
  });

  test('is made for processes that differ, and says whether the cause is known', () => {
    const [[cause, message] = assert.fail()] = warningsOf([], { spread: 0.08 });
    assert.deepEqual([cause, /8\.0 %.*unknown reason/.test(message)], ['spread', true]);
    const [, [, explained] = assert.fail()] = warningsOf([under({ othersMs: 400 })], { spread: 0.08 });
    assert.match(explained, /see the other warnings/);
  });
});

test('a report warns of what disturbed its bricks, and of what disturbed its whole models', () => {
  const model = { estimate: estimateOf('model', 10), endToEnd: endToEndOf(0, 10, 100, 10) };
  const busy = { wallMs: 1000, cores: 4, othersMs: 3000 };
  const disturbed: Measurement = { ...measurementOf(10), conditions: busy };
  const causes = (result: ReturnType<typeof resultOf>): readonly string[] => {
    return buildReport(result, SETTINGS).warnings.map(({ cause }) => cause);
  };
  assert.deepEqual(causes(resultOf([model])), []);
  assert.deepEqual(causes(resultOf([model], { bricks: [disturbed] })), ['other_load']);
  const whole = { ...model, endToEnd: { ...model.endToEnd, repeat: disturbed } };
  assert.deepEqual(causes(resultOf([whole])), ['other_load']);
});
