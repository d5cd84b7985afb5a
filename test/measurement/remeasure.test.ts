import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  isNewTakenAgain,
  isTakenAgain,
  isTakenAgainWhileQuiet,
  type Remeasure,
  remeasureAsked,
  parseRemeasure,
  remeasureSetting,
} from '../../src/measurement/remeasure.js';
import { sampleMeasurement } from '../store/sample-measurement.js';

const QUIET = sampleMeasurement(0);
const LOADED = sampleMeasurement(1, { conditions: { wallMs: 1000, cores: 1, othersMs: 500 } });
const SHARED = sampleMeasurement(2, { conditions: { wallMs: 1000, cores: 1, sharedShare: 0.5 } });
const FAILED = sampleMeasurement(3, { outcome: { kind: 'failure', reason: 'crashed', message: 'signal 11' } });
const ALL = [QUIET, LOADED, SHARED, FAILED];

function takenAgain(remeasure: Remeasure): readonly boolean[] {
  return ALL.map((measurement) => isTakenAgain(measurement, remeasure));
}

describe('measurements that are taken again', () => {
  test('are chosen by the given word', () => {
    const byWord = ['all', 'disturbed', 'failed', 'none'].map((word) => takenAgain(remeasureAsked(word)));
    assert.deepEqual(byWord, [
      [true, true, true, true],
      [false, true, true, false],
      [false, false, false, true],
      [false, false, false, false],
    ]);
  });

  test('are by default those that other processes disturbed, and only while the machine is quiet', () => {
    const byDefault = remeasureAsked(undefined);
    assert.deepEqual(takenAgain(byDefault), [false, false, false, false]);
    assert.deepEqual(
      ALL.map((measurement) => isTakenAgainWhileQuiet(measurement, byDefault)),
      [false, true, false, false],
    );
    assert.equal(isTakenAgainWhileQuiet(LOADED, remeasureAsked('none')), false);
  });

  test('include new measurements, except with the word none', () => {
    assert.deepEqual(
      [undefined, 'all', 'failed', 'none'].map((word) => isNewTakenAgain(remeasureAsked(word))),
      [true, true, true, false],
    );
  });

  test('are those older than a given time', () => {
    const takenMs = Date.parse(QUIET.measuredAt);
    const isOlderThan = (timeMs: number): boolean => isTakenAgain(QUIET, { kind: 'older-than', timeMs });
    assert.deepEqual([takenMs, takenMs + 1].map(isOlderThan), [false, true]);
    assert.equal(parseRemeasure('older-than:2h')?.kind, 'older-than');
  });
});

test('a setting with an unknown word is refused, and the message lists the known words', () => {
  assert.equal(remeasureSetting.safeParse(undefined).success, true);
  assert.equal(remeasureSetting.safeParse('failed').success, true);
  const { error } = remeasureSetting.safeParse('older-than:soon');
  assert.match(error?.issues[0]?.message ?? '', /^all, disturbed, failed, none or older-than:DURATION/);
  for (const text of ['al', '2h', 'newer-than:2h']) assert.equal(parseRemeasure(text), undefined);
});
