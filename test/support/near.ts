import assert from 'node:assert/strict';

/** Asserts that two numbers are equal except for rounding, relative to the expected one if that is larger than 1. */
export function near(actual: number | null | undefined, expected: number, tolerance = 1e-9): void {
  const isNear =
    typeof actual === 'number' && Math.abs(actual - expected) <= tolerance * Math.max(1, Math.abs(expected));
  assert.ok(isNear, `${actual} is not ${expected}`);
}
