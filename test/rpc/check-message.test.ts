import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { check } from '../../src/rpc/check-message.js';
import { refusal } from './support/refusal.js';

const schema = z.object({ name: z.string('a text'), sizes: z.array(z.int('a whole number')).default([]) });

test('a message is parsed by its schema', () => {
  assert.deepEqual(check(schema, { name: 'x', more: 1 }, 'Model'), { name: 'x', sizes: [] });
});

test('a problem is reported with its place', () => {
  const refused = refusal('usage', /^Model\.name: a text; Model\.sizes\.1: expected a whole number$/);
  assert.throws(() => check(schema, { sizes: [1, 'two'] }, 'Model'), refused);
});

test('at most five problems are listed, and the others are counted', () => {
  const sizes = Array.from({ length: 1000 }, () => 'x');
  const refused = refusal('usage', /^Model\.sizes\.0: .*; Model\.sizes\.4: expected a whole number; and 995 more$/);
  assert.throws(() => check(schema, { name: 'x', sizes }, 'Model'), refused);
});
