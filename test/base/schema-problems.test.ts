import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { z } from 'zod';
import { wholeNumber } from '../../src/base/bounded-number.js';
import { schemaProblems } from '../../src/base/schema-problems.js';

const schema = z.strictObject({ rows: z.array(z.int('expected a whole number')) }, 'expected a table');

function problemsOf(value: unknown, options?: Parameters<typeof schemaProblems>[1]): readonly string[] {
  const { error } = schema.safeParse(value);
  assert(error !== undefined);
  return schemaProblems(error, options);
}

describe('the problems that a schema finds', () => {
  it('says where each problem is', () => {
    assert.deepEqual(problemsOf({ rows: [1, 'x', 2.5] }), [
      'rows.1: expected a whole number',
      'rows.2: expected a whole number',
    ]);
  });

  it('names the whole value where all of it is wrong', () => {
    assert.deepEqual(problemsOf(7), ['it: expected a table']);
    assert.deepEqual(problemsOf(7, { whole: 'suite' }), ['suite: expected a table']);
  });

  it('says where the value is in something larger', () => {
    assert.deepEqual(problemsOf({ rows: [''] }, { around: ['request'] }), ['request.rows.0: expected a whole number']);
    assert.deepEqual(problemsOf(7, { around: ['request'] }), ['request: expected a table']);
  });

  it('says in plain words what is expected where the schema has no words of its own', () => {
    const plain = z.strictObject({
      text: z.string(),
      short: z.string().min(3),
      list: z.array(z.int()).max(1),
      from: z.number().min(0),
      above: z.number().positive(),
      one: z.enum(['a', 'b', 'c']),
      hash: z.string().regex(/^[0-9a-f]+$/),
      either: z.union([z.string(), z.boolean()]),
    });
    const value = {
      short: 'x',
      list: [1, 2],
      from: -1,
      above: 0,
      one: 'd',
      hash: 'x',
      either: 1,
      other: 1,
      another: 1,
    };
    const { error } = plain.safeParse(value);
    assert(error !== undefined);
    assert.deepEqual(schemaProblems(error, { most: 20 }), [
      'text: expected a text, found nothing',
      'short: expected a text of at least 3 characters',
      'list: expected a list of at most 1 item',
      'from: expected a number of at least 0',
      'above: expected a number above 0',
      'one: expected "a", "b" or "c"',
      'hash: expected a text that matches /^[0-9a-f]+$/',
      'either: expected a text or true or false, found a number',
      'it: unknown key "other", "another"',
    ]);
  });

  it('says what was expected of a number, whatever its words are, and leaves other messages as they are', () => {
    const error = 'a share from 0 to 1';
    const own = z.object({
      below: z.number({ error }).min(0, { error }),
      above: z.number({ error }).max(1, { error }),
      text: z.number({ error }),
      whole: wholeNumber(1, 8),
      name: z.string().regex(/^[a-z]/, 'a number is no name'),
    });
    const { error: found } = own.safeParse({ below: -1, above: 2, text: 'x', whole: 1.5, name: '1' });
    assert(found !== undefined);
    assert.deepEqual(schemaProblems(found), [
      'below: expected a share from 0 to 1',
      'above: expected a share from 0 to 1',
      'text: expected a share from 0 to 1',
      'whole: expected a whole number from 1 to 8',
      'name: a number is no name',
    ]);
  });

  it('counts the problems that it leaves out', () => {
    const problems = problemsOf({ rows: Array<string>(9).fill('x') }, { most: 2 });
    assert.deepEqual(problems, ['rows.0: expected a whole number', 'and 8 more']);
  });
});
