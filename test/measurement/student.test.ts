import assert from 'node:assert/strict';
import { test } from 'node:test';
import { studentTail, studentWidth } from '../../src/measurement/student.js';

// Critical values of Student's t distribution, two-sided; NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2.
const TABLE = [
  [0.05, 1, 12.706],
  [0.05, 2, 4.303],
  [0.05, 3, 3.182],
  [0.05, 4, 2.776],
  [0.05, 9, 2.262],
  [0.05, 10, 2.228],
  [0.05, 100, 1.984],
  [0.002, 5, 5.893],
  [0.002, 8, 4.501],
] as const;

test('gives the widths of the published table', () => {
  for (const [tail, degrees, width] of TABLE) {
    assert.ok(Math.abs(studentWidth(tail, degrees) - width) < 0.0006, `${tail} ${degrees}`);
  }
});

test('the tail is the inverse of the width, and symmetric', () => {
  for (const degrees of [1, 2, 7, 30]) {
    for (const tail of [1e-6, 0.01, 0.5, 0.999]) {
      assert.ok(Math.abs(studentTail(-studentWidth(tail, degrees), degrees) / tail - 1) < 1e-6);
    }
    assert.equal(studentTail(0, degrees), 1);
  }
});
