import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { collect } from '../../../src/base/collect.js';
import { openEmbeddedStore } from '../../../src/store/embedded/open.js';
import { note, NOTES, type Note } from '../collection-contract.js';
import { temporaryFolder } from '../temporary-folder.js';
import { STORE_PROCESS } from './store-process.js';

const NOTES_IN_PROCESS = 20;

/** Rewrites the same notes until it is killed, some time after it has done so `rounds` times. */
async function rewriteUntilKilled(folder: string, rounds: number): Promise<void> {
  const child = spawn(process.execPath, [STORE_PROCESS, folder, 'notes', '0', String(NOTES_IN_PROCESS)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let lines = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    lines += chunk.toString().split('\n').length - 1;
    if (lines >= rounds) setTimeout(() => child.kill('SIGKILL'), Math.random() * 10);
  });
  await once(child, 'exit');
}

describe('collections of an embedded store', () => {
  it(
    'are found by their indexes after processes that wrote them at once were killed with -9',
    { timeout: 60_000 },
    async (t) => {
      const folder = await temporaryFolder(t);
      await Promise.all([rewriteUntilKilled(folder, 5), rewriteUntilKilled(folder, 9)]);
      const store = await openEmbeddedStore(folder, { onWarning: (message) => assert.fail(message) });
      t.after(() => store.close());
      const notes = store.collection(NOTES);
      const everything = await collect(notes.find({}));
      assert.equal(everything.length, NOTES_IN_PROCESS);
      const authors = new Set(everything.flatMap(({ author }) => author ?? []));
      for (const author of authors) {
        const expected = everything.filter((one) => one.author === author);
        assert.deepEqual(await collect(notes.find({ author })), expected);
      }
      for (let number = 0; number < 7; number += 1) {
        const author = `author ${number}`;
        if (!authors.has(author)) assert.deepEqual(await collect(notes.find({ author })), []);
      }
    },
  );

  it('are found by the indexes of a newer definition, and by none that it has no more', async (t) => {
    const folder = await temporaryFolder(t);
    const older = await openEmbeddedStore(folder, {});
    await older.collection({ ...NOTES, indexes: [['author']] }).putMany([note('x'), note('y', { year: '2021' })]);
    await older.close();
    const newer = await openEmbeddedStore(folder, {});
    t.after(() => newer.close());
    const definition = { ...NOTES, indexes: [['year']] as const };
    assert.deepEqual(await collect(newer.collection(definition).find({ year: '2021' })), [note('y', { year: '2021' })]);
    assert.deepEqual(await newer.listCollections(), [{ name: 'notes', key: ['shelf', 'title'], indexes: [['year']] }]);
  });

  it('refuse to be kept by another key', async (t) => {
    const store = await openEmbeddedStore(await temporaryFolder(t), {});
    t.after(() => store.close());
    await store.collection(NOTES).put(note('x'));
    const other = store.collection<Note>({ ...NOTES, key: ['title'] });
    const refused = { name: 'PlatformError', message: /by another key/ };
    await assert.rejects(other.put(note('y')), refused);
    await assert.rejects(collect(other.find({})), refused);
    assert.deepEqual(await collect(store.collection(NOTES).find({})), [note('x')]);
  });
});
