import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleOf } from '../../mutants/sample.js';
import { mutantOf } from './mutant.js';

const MUTANTS = Array.from({ length: 200 }, (_, i) => mutantOf(`change ${i}`));

function named(size: number, seed: number, mutants = MUTANTS): readonly string[] {
  return sampleOf(mutants, size, seed).map(({ description }) => description);
}

test('a seed always chooses the same mutants, another seed others', () => {
  assert.equal(new Set(named(50, 1)).size, 50);
  assert.deepEqual(named(50, 1), named(50, 1));
  assert.notDeepEqual(named(50, 1), named(50, 2));
});

test('a sample is in the order of the mutants, and never larger than all', () => {
  assert.deepEqual(
    named(1000, 1),
    MUTANTS.map(({ description }) => description),
  );
  const places = sampleOf(MUTANTS, 50, 1).map((mutant) => MUTANTS.indexOf(mutant));
  assert.deepEqual(
    places,
    [...places].sort((a, b) => a - b),
  );
});

test('removing a mutant changes at most one member of the sample', () => {
  const before = named(50, 1);
  const after = new Set(named(50, 1, MUTANTS.slice(1)));
  assert.ok(before.filter((one) => !after.has(one)).length <= 1);
});
