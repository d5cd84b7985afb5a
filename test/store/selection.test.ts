import assert from 'node:assert/strict';
import { test } from 'node:test';
import { selectOne, matches, selectBy } from '../../src/store/selection.js';

const SHAPE = { name: 'things', key: ['a', 'b'], indexes: [['c'], ['d', 'a']] };

test('documents are found by leading fields of the key, and by all fields of an index', () => {
  assert.deepEqual(selectBy(SHAPE, {}), { index: undefined, texts: [], impossible: false });
  assert.deepEqual(selectBy(SHAPE, { a: '1' }), { index: undefined, texts: ['1'], impossible: false });
  assert.deepEqual(selectBy(SHAPE, { b: '2', a: '1' }), { index: undefined, texts: ['1', '2'], impossible: false });
  assert.deepEqual(selectBy(SHAPE, { c: '3' }), { index: 0, texts: ['3'], impossible: false });
  assert.deepEqual(selectBy(SHAPE, { a: '1', d: '4' }), { index: 1, texts: ['4', '1'], impossible: false });
});

test('values that no document can have find nothing', () => {
  assert.equal(selectBy(SHAPE, { a: 'x'.repeat(601) }).impossible, true);
  assert.equal(selectBy(SHAPE, { c: '\ud800' }).impossible, true);
});

test('other fields, and values that are no texts, are a mistake in the program, which names the right fields', () => {
  const expected = (found: string) => ({
    code: 'internal',
    message: `documents of things are not found by ${found}, but by texts for a, b or c or d, a`,
  });
  assert.throws(() => selectBy(SHAPE, { b: '2' }), expected('b'));
  assert.throws(() => selectBy(SHAPE, { d: '4' }), expected('d'));
  assert.throws(() => selectBy(SHAPE, { a: 1 }), expected('a'));
});

test('one document is read by its whole key', () => {
  assert.deepEqual(selectOne(SHAPE, { a: '1', b: '2' }).texts, ['1', '2']);
  const expected = { code: 'internal', message: 'a document of things is read by its whole key: a, b' };
  for (const match of [{ a: '1' }, { c: '3' }, { a: '1', d: '4' }, {}])
    assert.throws(() => selectOne(SHAPE, match), expected);
});

test('a selection contains the documents with its values', () => {
  const document = { a: '1', b: '2', d: '4' };
  assert.ok(matches(SHAPE, selectBy(SHAPE, {}), document));
  assert.ok(matches(SHAPE, selectBy(SHAPE, { a: '1' }), document));
  assert.ok(!matches(SHAPE, selectBy(SHAPE, { a: '2' }), document));
  assert.ok(matches(SHAPE, selectBy(SHAPE, { a: '1', d: '4' }), document));
  assert.ok(!matches(SHAPE, selectBy(SHAPE, { c: '3' }), document), 'it lacks the field of the index');
});
