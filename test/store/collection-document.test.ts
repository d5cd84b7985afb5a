import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_KEY_BYTES } from '../../src/store/collection.js';
import { checkedDocument, isTextOf, readKeys, problemWithKey } from '../../src/store/collection-document.js';
import { requireShape } from '../../src/store/collection-shape.js';
import { openMemoryStore } from '../../src/store/memory/open.js';
import { defineAnyDocument } from '../../src/store/transfer-record.js';
import { note, NOTES } from './collection-contract.js';

const SHAPE = { name: 'things', key: ['a', 'b'], indexes: [['c']] };

test('a document has a key, and the indexes whose fields it has', () => {
  assert.deepEqual(readKeys(SHAPE, { a: '1', b: '2', c: '3' }), { key: ['1', '2'], indexes: [['3']] });
  assert.deepEqual(readKeys(SHAPE, { a: '1', b: '2' }), { key: ['1', '2'], indexes: [undefined] });
  assert.deepEqual(readKeys(SHAPE, { a: '1', b: '2', c: 3 }), { key: ['1', '2'], indexes: [undefined] });
  assert.equal(readKeys(SHAPE, { a: '1', c: '3' }), 'a field of its key is missing');
});

test("_id is a document's whole key, or none of its fields", () => {
  const problem = 'only a field that is its whole key may be called _id';
  assert.equal(readKeys(SHAPE, { a: '1', b: '2', _id: '3' }), problem);
  assert.equal(readKeys({ ...SHAPE, key: ['_id', 'a'] }, { _id: '3', a: '1' }), problem);
  assert.deepEqual(readKeys({ ...SHAPE, key: ['_id'], indexes: [] }, { _id: '3' }), { key: ['3'], indexes: [] });
});

test('a key, and each index, has 600 bytes of UTF-8 at most, with two for a NUL', () => {
  const tooLong = (bytes: number): string => `its key or index has ${bytes} bytes, more than the limit of 600`;
  assert.equal(MAX_KEY_BYTES, 600);
  assert.equal(problemWithKey(['a'.repeat(300), 'é'.repeat(150)]), undefined);
  assert.equal(problemWithKey(['a'.repeat(301), 'é'.repeat(150)]), tooLong(601));
  assert.equal(problemWithKey(['\0'.repeat(300)]), undefined);
  assert.equal(problemWithKey(['\0'.repeat(301)]), tooLong(602));
  assert.equal(readKeys(SHAPE, { a: '1', b: '2', c: 'c'.repeat(601) }), tooLong(601));
  assert.equal(problemWithKey(['\ud800']), 'a field of its key or an index is no valid Unicode');
});

test('a stored text is that of a document in any order of its fields', () => {
  const checked = checkedDocument(NOTES, note('a'));
  assert.ok(isTextOf(checked.text, checked));
  const turned = Object.fromEntries(Object.entries(note('a')).reverse());
  assert.notEqual(JSON.stringify(turned), checked.text);
  assert.ok(isTextOf(JSON.stringify(turned), checked));
  assert.ok(!isTextOf(JSON.stringify(note('b')), checked));
  assert.ok(!isTextOf('{', checked));
});

test('the documents of a kind are counted', async () => {
  const store = await openMemoryStore();
  assert.equal(await store.collection(defineAnyDocument(NOTES)).count(), 0);
  await store.collection(NOTES).putMany(['a', 'b', 'c'].map((id) => note(id)));
  assert.equal(await store.collection(defineAnyDocument(NOTES)).count(), 3);
});

test('a document that is refused is named by its key, and by the types of values that are no text', () => {
  const refusalOf = (document: object): string => {
    try {
      checkedDocument(NOTES, document as never);
    } catch (error) {
      return error instanceof Error ? error.message : '';
    }
    return assert.fail('the document is taken');
  };
  const long = refusalOf({ ...note('t'.repeat(65)), pages: 'many' });
  assert.ok(
    long.startsWith(`A document of notes (a, ${'t'.repeat(64)}) was not stored, because it is not valid: pages: `),
    long,
  );
  assert.match(refusalOf({ ...note('x'), title: 1 }), /^A document of notes \(a, number\) was not stored/);
  assert.match(refusalOf({ shelf: 'a' }), /^A document of notes \(a, undefined\) was not stored/);
});

test('a shape keeps the types of its fields, and nothing else of a definition', () => {
  const types = { title: 'date' } as const;
  const { name, key, indexes } = NOTES;
  assert.deepEqual(requireShape({ ...NOTES, types }), { name, key, indexes, types });
  assert.deepEqual(requireShape(NOTES), { name, key, indexes });
});
