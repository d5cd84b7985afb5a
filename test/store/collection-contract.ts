import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { collect } from '../../src/base/collect.js';
import { assertRefused } from '../rpc/support/refusal.js';
import fc, { anyCharacter } from '../support/property.js';
import { z } from 'zod';
import { MAX_KEY_BYTES, type Collection, type CollectionDefinition } from '../../src/store/collection.js';
import type { ResultStore } from '../../src/store/result-store.js';

const noteSchema = z.strictObject({
  shelf: z.string(),
  title: z.string(),
  author: z.string().optional(),
  year: z.string(),
  pages: z.number(),
  extra: z.json().optional(),
});

export type Note = z.infer<typeof noteSchema>;

/** A kind of document with a key of two fields and two indexes, one of two fields and one of a field that may be missing. */
export const NOTES: CollectionDefinition<Note> = {
  name: 'notes',
  schema: noteSchema,
  key: ['shelf', 'title'],
  indexes: [['author'], ['year', 'shelf']],
};

export function note(title: string, changes: Partial<Note> = {}): Note {
  return { shelf: 'a', title, author: 'ann', year: '2020', pages: 1, ...changes };
}

/** The requirements on every backend's collections. `open` gives a new, empty store, and cleans up after the test. */
export function collectionContract(name: string, open: (t: TestContext) => Promise<ResultStore>): void {
  const openNotes = async (t: TestContext): Promise<Collection<Note>> => (await open(t)).collection(NOTES);
  const titles = async (notes: AsyncIterable<Note>): Promise<string[]> =>
    (await collect(notes)).map(({ title }) => title);

  describe(`collections of the ${name} result store`, () => {
    it('gets what was put, by its whole key', async (t) => {
      const notes = await openNotes(t);
      const put = note('x', { extra: { nested: [1, [2, { 'a.b': null, $c: '', '': 0.1 }]], '%2E': true } });
      await notes.put(put);
      assert.deepEqual(await notes.get({ title: 'x', shelf: 'a' }), put);
      assert.equal(await notes.get({ title: 'y', shelf: 'a' }), undefined);
    });

    it('finds nothing where nothing was put', async (t) => {
      const notes = await openNotes(t);
      assert.equal(await notes.get({ shelf: 'a', title: 'x' }), undefined);
      assert.deepEqual(await collect(notes.find({})), []);
      assert.equal(await notes.delete({ shelf: 'a' }), 0);
    });

    it('finds all, a leading part of the key, and by each index, in the order of the keys', async (t) => {
      const notes = await openNotes(t);
      const shelved = (shelf: string, title: string, author: string, year: string): Note =>
        note(title, { shelf, author, year });
      await notes.putMany([
        shelved('b', 'x', 'ann', '2021'),
        shelved('a', 'z', 'bob', '2020'),
        shelved('a', 'é', 'ann', '2020'),
        shelved('a', '\u{ffff}', 'ann', '2020'),
        shelved('a', '\u{10000}', 'ann', '2020'),
        shelved('a', 'x', 'bob', '2020'),
        shelved('a', 'x y', 'ann', '2021'),
        shelved('ab', 'a', 'ann', '2020'),
      ]);
      const ofA = ['x', 'x y', 'z', 'é', '\u{ffff}', '\u{10000}'];
      assert.deepEqual(await titles(notes.find({})), [...ofA, 'a', 'x']);
      assert.deepEqual(await titles(notes.find({ shelf: 'a' })), ofA);
      assert.deepEqual(await titles(notes.find({ shelf: 'a', title: 'x' })), ['x']);
      assert.deepEqual(await titles(notes.find({ author: 'bob' })), ['x', 'z']);
      assert.deepEqual(await titles(notes.find({ shelf: 'a', year: '2021' })), ['x y']);
      assert.deepEqual(await titles(notes.find({ author: 'eve' })), []);
      assert.deepEqual(await titles(notes.find({ author: 'an' })), []);
    });

    it('replaces the document with the same key, and finds it by its new values only', async (t) => {
      const notes = await openNotes(t);
      await notes.put(note('x', { pages: 1 }));
      await notes.put(note('x', { pages: 2, author: 'bob' }));
      await notes.put(note('x', { pages: 2, author: 'bob' }));
      assert.deepEqual(await collect(notes.find({})), [note('x', { pages: 2, author: 'bob' })]);
      assert.deepEqual(await collect(notes.find({ author: 'ann' })), []);
      assert.deepEqual(await titles(notes.find({ author: 'bob' })), ['x']);
    });

    it('does not find a document by an index whose field it lacks', async (t) => {
      const notes = await openNotes(t);
      const { author, ...anonymous } = note('x');
      await notes.put(anonymous);
      assert.deepEqual(await collect(notes.find({ author: author ?? '' })), []);
      assert.deepEqual(await collect(notes.find({ shelf: 'a' })), [anonymous]);
    });

    it('deletes what a match finds, and says how many', async (t) => {
      const notes = await openNotes(t);
      await notes.putMany(
        Array.from({ length: 300 }, (_, index) => note(`n${index}`, { author: index % 3 ? 'ann' : 'bob' })),
      );
      assert.equal(await notes.delete({ author: 'bob' }), 100);
      assert.equal(await notes.delete({ author: 'bob' }), 0);
      assert.equal((await collect(notes.find({ author: 'ann' }))).length, 200);
      assert.equal(await notes.delete({ shelf: 'a', title: 'n1' }), 1);
      assert.equal(await notes.delete({}), 199);
      assert.deepEqual(await collect(notes.find({})), []);
    });

    it('keeps kinds apart, and measurements and kinds', async (t) => {
      const store = await open(t);
      const others: CollectionDefinition<Note> = { ...NOTES, name: 'notes_2' };
      await store.collection(NOTES).put(note('x'));
      assert.deepEqual(await collect(store.collection(others).find({})), []);
      assert.deepEqual(await collect(store.collection(others).find({ author: 'ann' })), []);
      assert.equal(await store.collection(others).delete({}), 0);
      assert.deepEqual(await store.listSystems(), []);
      assert.deepEqual(await titles(store.collection(NOTES).find({})), ['x']);
    });

    it('is not changed by what happens to a document after it was put', async (t) => {
      const notes = await openNotes(t);
      const extra = { list: [1] };
      const put = notes.put(note('x', { extra }));
      extra.list.push(2);
      await put;
      const found = await notes.get({ shelf: 'a', title: 'x' });
      assert.deepEqual(found?.extra, { list: [1] });
    });

    it('stores what is put concurrently, the last one of each key', async (t) => {
      const notes = await openNotes(t);
      const puts = Array.from({ length: 60 }, (_, index) => note(`n${index % 20}`, { pages: index }));
      await Promise.all(puts.map((put) => notes.put(put)));
      const found = await collect(notes.find({}));
      assert.deepEqual(
        found.map(({ pages }) => pages).sort((a, b) => a - b),
        [...Array(20).keys()].map((i) => i + 40),
      );
    });

    it('inserts a document unless there is another one with its key', async (t) => {
      const notes = await openNotes(t);
      assert.equal(await notes.insert(note('x', { pages: 1 })), true);
      assert.equal(await notes.insert(note('x', { pages: 2 })), false);
      assert.deepEqual(await collect(notes.find({ author: 'ann' })), [note('x', { pages: 1 })]);
      // An answer may be lost, and the request made again.
      assert.equal(await notes.insert(note('x', { pages: 1 })), true);
      await notes.delete({ shelf: 'a', title: 'x' });
      assert.equal(await notes.insert(note('x', { pages: 2 })), true);
    });

    it('inserts one of several documents with one key that come at once', async (t) => {
      const store = await open(t);
      const inserted = await Promise.all(
        Array.from({ length: 30 }, (_, index) => {
          return store.collection(NOTES).insert(note(`n${index % 3}`, { pages: index }));
        }),
      );
      assert.equal(inserted.filter(Boolean).length, 3);
      const winners = inserted.flatMap((isThere, index) => (isThere ? [index] : []));
      const pages = (await collect(store.collection(NOTES).find({}))).map((found) => found.pages);
      assert.deepEqual(
        pages.sort((a, b) => a - b),
        winners,
      );
    });

    it('refuses a document that breaks the schema, naming it and the field, and stores nothing of the same call', async (t) => {
      const notes = await openNotes(t);
      const asked = notes.putMany([note('x'), note('y', { pages: Number.NaN })]);
      await assertRefused(asked, 'storage', /notes \(a, y\).*pages/);
      assert.deepEqual(await collect(notes.find({})), []);
    });

    it('takes keys up to the limit, refuses longer ones, and finds nothing by them', async (t) => {
      const notes = await openNotes(t);
      const longest = 'ü'.repeat(MAX_KEY_BYTES / 2 - 1);
      await notes.put(note(`${longest}x`, { author: 'é'.repeat(MAX_KEY_BYTES / 2) }));
      assert.equal((await titles(notes.find({ shelf: 'a' })))[0], `${longest}x`);
      const asked = notes.put(note(`${longest}xy`));
      await assertRefused(asked, 'storage', /its key or index has 601 bytes, more than the limit of 600/);
      await assertRefused(notes.put(note('x', { author: 'a'.repeat(601) })), 'storage', /601 bytes/);
      await assertRefused(notes.put(note('\ud800')), 'storage', /no valid Unicode/);
      assert.deepEqual(await collect(notes.find({ author: 'a'.repeat(10_000) })), []);
      assert.equal(await notes.get({ shelf: 'a', title: 'a'.repeat(10_000) }), undefined);
    });

    it('keeps a document of 5 MB', async (t) => {
      const notes = await openNotes(t);
      const large = note('x', { extra: Array.from({ length: 50_000 }, (_, index) => `${index}`.padEnd(100, '.')) });
      await notes.put(large);
      assert.deepEqual(await notes.get({ shelf: 'a', title: 'x' }), large);
    });

    it('serves a reader that stops early, and one that deletes what it reads', async (t) => {
      const notes = await openNotes(t);
      await notes.putMany(Array.from({ length: 250 }, (_, index) => note(`n${index}`)));
      for await (const { title } of notes.find({})) {
        assert.equal(title, 'n0');
        break;
      }
      for await (const { shelf, title } of notes.find({})) await notes.delete({ shelf, title });
      assert.deepEqual(await collect(notes.find({})), []);
    });

    it('refuses fields that documents are not found by, and names that a store needs itself', async (t) => {
      const store = await open(t);
      const notes = store.collection(NOTES);
      const internal = { name: 'PlatformError', code: 'internal' };
      await assert.rejects(collect(notes.find({ title: 'x' })), internal);
      await assert.rejects(collect(notes.find({ pages: 1 })), internal);
      await assert.rejects(notes.get({ shelf: 'a' }), internal);
      assert.throws(() => store.collection({ ...NOTES, name: 'measurements' }), internal);
      assert.throws(() => store.collection({ ...NOTES, name: 'No name' }), internal);
    });

    it('lists the kinds of documents that were stored, by their names', async (t) => {
      const store = await open(t);
      for (const name of ['notes_b', 'notes_c', 'notes_a']) await store.collection({ ...NOTES, name }).put(note('x'));
      const { key, indexes } = NOTES;
      assert.deepEqual(
        await store.listCollections(),
        ['notes_a', 'notes_b', 'notes_c'].map((name) => ({ name, key, indexes })),
      );
    });

    it('refuses everything after the store was closed', async (t) => {
      const store = await open(t);
      const notes = store.collection(NOTES);
      await store.close();
      await assertRefused(notes.put(note('x')), 'storage', /closed/);
      await assertRefused(notes.insert(note('x')), 'storage', /closed/);
      await assertRefused(notes.get({ shelf: 'a', title: 'x' }), 'storage', /closed/);
      await assertRefused(collect(notes.find({})), 'storage', /closed/);
      await assertRefused(notes.delete({}), 'storage', /closed/);
    });

    it('gives back any document as it was, by its key and by its indexes', async (t) => {
      const store = await open(t);
      let run = 0;
      const property = fc.asyncProperty(fc.array(anyNote, { minLength: 1, maxLength: 8 }), async (put) => {
        const notes = store.collection({ ...NOTES, name: `notes_${run++}` });
        await notes.putMany(put);
        const last = put.filter((one, index) => put.findLastIndex((other) => sameKey(one, other)) === index);
        for (const one of last) {
          assert.deepEqual(await notes.get({ shelf: one.shelf, title: one.title }), one);
          const sameYear = last.filter(({ year, shelf }) => year === one.year && shelf === one.shelf);
          const found = await collect(notes.find({ year: one.year, shelf: one.shelf }));
          assert.deepEqual(new Set(found), new Set(sameYear));
        }
        assert.deepEqual(await collect(notes.find({})), last.toSorted(byKey));
      });
      await fc.assert(property, { numRuns: 30 });
    });
  });
}

function sameKey(one: Note, other: Note): boolean {
  return one.shelf === other.shelf && one.title === other.title;
}

function byKey(one: Note, other: Note): number {
  const compare = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
  return compare(one.shelf, other.shelf) || compare(one.title, other.title);
}

const shortText = fc.string({ unit: anyCharacter, maxLength: 4 });

const anyNote: fc.Arbitrary<Note> = fc.record(
  {
    shelf: fc.constantFrom('', '\0', '\u0001', 'a'),
    title: shortText,
    author: shortText,
    year: fc.constantFrom('2020', '2021'),
    pages: fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
    extra: anyJson(),
  },
  { noNullPrototype: true },
);

/** Without -0, which JSON does not know, and without __proto__, which no object literal has. */
function anyJson(): fc.Arbitrary<z.core.util.JSONType> {
  return fc
    .json({ stringUnit: anyCharacter, maxDepth: 4 })
    .map(
      (text) =>
        JSON.parse(text.replaceAll('__proto__', 'proto').replaceAll(/-0(?![.\d])/g, '0')) as z.core.util.JSONType,
    );
}
