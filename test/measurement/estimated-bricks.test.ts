import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { type EstimatedBricks, estimatedBricks } from '../../src/measurement/estimated-bricks.js';

const schema = z.strictObject(estimatedBricks);

const BRICK = { signature: 'a', operators: ['Conv', 'Relu'], sequences: 2, latency_ms: 0.5, occasions: 3 };

test('the parts of an estimate are kept as they are, also those that are not known', () => {
  const known: EstimatedBricks = { spread_percent: 1.5, bricks: [BRICK] };
  const unknown = { spread_percent: null, bricks: [{ ...BRICK, latency_ms: null, occasions: 0, sequences: 0 }] };
  for (const parts of [known, unknown, { spread_percent: 0, bricks: [] }]) assert.deepEqual(schema.parse(parts), parts);
});

test('the parts of an estimate lack nothing, and nothing of them is below zero', () => {
  assert.ok(!schema.safeParse({ bricks: [] }).success);
  assert.ok(!schema.safeParse({ spread_percent: -1, bricks: [] }).success);
  for (const name of Object.keys(BRICK))
    assert.ok(!schema.safeParse({ spread_percent: 1, bricks: [{ ...BRICK, [name]: undefined }] }).success, name);
  for (const name of ['sequences', 'latency_ms', 'occasions'])
    assert.ok(!schema.safeParse({ spread_percent: 1, bricks: [{ ...BRICK, [name]: -1 }] }).success, name);
});
