import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc, { anyCharacter } from '../../support/property.js';
import { BSON, ObjectId } from 'mongodb';
import { decodeDocument, encodeDocument, type FieldTypes } from '../../../src/store/mongodb/document-codec.js';

/** As a server gives it back. */
function stored(json: object, types: FieldTypes = {}): object {
  return BSON.deserialize(BSON.serialize(encodeDocument(json, types)));
}

/** Whether FerretDB and older servers take it: no name with a dot or a leading $, no list within a list. */
function isAccepted(value: unknown, inList = false): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return !inList && value.every((item) => isAccepted(item, true));
  return Object.entries(value).every(([name, item]) => !/\.|^\$|\0/.test(name) && isAccepted(item));
}

describe('documents as BSON', () => {
  it('give back any JSON, and are taken by every server', () => {
    const anyObject = fc
      .dictionary(fc.string({ unit: anyCharacter }), fc.jsonValue({ stringUnit: anyCharacter, maxDepth: 5 }), {
        noNullPrototype: true,
      })
      .map((value) => JSON.parse(JSON.stringify(value).replaceAll('__proto__', 'proto')) as object);
    fc.assert(
      fc.property(anyObject, (json) => {
        assert(isAccepted(encodeDocument(json)));
        assert.deepEqual(decodeDocument(stored(json)), json);
      }),
      { numRuns: 500 },
    );
  });

  it('name what is not allowed in a way that is', () => {
    const json = { 'a.b': 1, $set: 2, c$: 3, '%': 4, '%2e': 5, list: [[1], [[2]]] };
    assert.deepEqual(encodeDocument(json), {
      'a%2eb': 1,
      '%24set': 2,
      c$: 3,
      '%25': 4,
      '%252e': 5,
      list: [{ '%': [1] }, { '%': [{ '%': [2] }] }],
    });
    assert.deepEqual(decodeDocument(stored(json)), json);
  });

  it('hold times and ids in types of their own where they come back as they were', () => {
    const types = { at: 'date', id: 'object_id', ids: 'object_id' } as const;
    const id = '0123456789abcdef01234567';
    const typed = { at: '2026-01-02T03:04:05.678Z', id, ids: [id, id] };
    const encoded = encodeDocument(typed, types);
    assert.deepEqual(encoded['ids'], [new ObjectId(id), new ObjectId(id)]);
    assert(encoded['at'] instanceof Date);
    assert(encoded['id'] instanceof ObjectId);
    const untyped = { at: '2026-01-02T03:04:05Z', id: '0123456789ABCDEF01234567' };
    assert.deepEqual(encodeDocument(untyped, types), untyped);
    for (const json of [typed, untyped]) assert.deepEqual(decodeDocument(stored(json, types)), json);
  });
});
