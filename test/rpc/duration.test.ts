import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromWireDuration, toWireDuration } from '../../src/rpc/duration.js';

// google.protobuf.Duration: whole seconds, and nanoseconds from 0 to 999,999,999 with the sign of the seconds.
const DURATIONS: readonly [ms: number, seconds: bigint, nanos: number][] = [
  [0, 0n, 0],
  [0.25, 0n, 250_000],
  [999, 0n, 999_000_000],
  [1000, 1n, 0],
  [1500.5, 1n, 500_500_000],
  [86_400_000, 86_400n, 0],
];

for (const [ms, seconds, nanos] of DURATIONS) {
  test(`${ms} ms travel as ${seconds} s and ${nanos} ns`, () => {
    assert.deepEqual(toWireDuration(ms), { seconds, nanos });
    assert.equal(fromWireDuration({ seconds, nanos }), ms);
  });
}

test('nanoseconds are whole', () => assert.deepEqual(toWireDuration(0.0000006), { seconds: 0n, nanos: 1 }));

test('a message without a duration has none', () => assert.equal(fromWireDuration(undefined), undefined));
