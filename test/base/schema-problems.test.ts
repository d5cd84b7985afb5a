import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { z } from 'zod';
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

  it('counts the problems that it leaves out', () => {
    const problems = problemsOf({ rows: Array<string>(9).fill('x') }, { most: 2 });
    assert.deepEqual(problems, ['rows.0: expected a whole number', 'and 8 more']);
  });
});
