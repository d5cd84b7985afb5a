import assert from 'node:assert/strict';
import { test } from 'node:test';
import { measurementKey } from '../../src/measurement/measurement.js';
import { hasKey, measurementId } from '../../src/store/measurement-id.js';
import { sampleMeasurement, signatureOf } from './sample-measurement.js';

const measurement = sampleMeasurement(1);
const key = measurementKey(measurement);

const others = [
  { ...key, signature: signatureOf(2) },
  { ...key, system: signatureOf(3) },
  { ...key, setup: `${key.setup}0` },
];

test('a measurement has its own key and no other', () => {
  assert.ok(hasKey(measurement, key));
  for (const other of others) assert.ok(!hasKey(measurement, other));
});

test('each key has an id of its own, and measurements of one plan lie side by side', () => {
  const ids = [key, ...others].map(measurementId);
  assert.equal(new Set(ids).size, 4);
  assert.equal(ids[0]?.slice(0, 33), ids[1]?.slice(0, 33));
  assert.match(ids[0] ?? '', new RegExp(`^[0-9a-f]{32}\\.${key.signature}$`));
});

test('what is no signature has no id', () => {
  for (const signature of ['', key.signature.slice(1), `${key.signature}0`, `x${key.signature.slice(1)}`]) {
    assert.equal(measurementId({ ...key, signature }), undefined);
  }
});
