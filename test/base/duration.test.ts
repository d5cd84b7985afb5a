import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DURATION_EXAMPLES, parseDurationMs } from '../../src/base/duration.js';

test('a duration is a whole number and a unit', () => {
  const hour = 3_600_000;
  assert.deepEqual(['90s', '30m', '12h', '7d', '4w', '0s'].map(parseDurationMs), [
    90_000,
    hour / 2,
    12 * hour,
    168 * hour,
    672 * hour,
    0,
  ]);
  for (const text of ['', '7', 'd', '-7d', '1.5h', '7 d', '7D', '7days', '1234567d']) {
    assert.equal(parseDurationMs(text), undefined, text);
  }
});

test('the examples of a duration have every unit', () => {
  const examples = DURATION_EXAMPLES.split(/, | or /);
  assert.deepEqual(
    examples.map((text) => text.replace(/^\d+/, '')),
    ['ms', 's', 'm', 'h', 'd', 'w'],
  );
  assert.ok(examples.every((text) => parseDurationMs(text) !== undefined));
});
