import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, it, type TestContext } from 'node:test';
import { z } from 'zod';
import { collect } from '../../src/base/collect.js';
import type { CollectionDefinition } from '../../src/store/collection.js';
import { openEmbeddedStore } from '../../src/store/embedded/open.js';
import { fromJsonLines, toJsonLines } from '../../src/store/json-lines.js';
import { openMemoryStore } from '../../src/store/memory/open.js';
import { openMongoStore } from '../../src/store/mongodb/open.js';
import type { ResultStore } from '../../src/store/result-store.js';
import { putRecords, readRecords } from '../../src/store/transfer.js';
import { withChanges } from '../server/changing-store.js';
import { note, NOTES } from './collection-contract.js';
import { MONGODB_URI, needsServer, newDatabase } from './mongodb/server.js';
import { sampleMeasurement, sampleSystem, SYSTEM } from './sample-measurement.js';
import { temporaryFolder } from './temporary-folder.js';

type Open = (t: TestContext) => Promise<ResultStore>;

const BACKENDS: Readonly<Record<string, Open>> = {
  memory: () => openMemoryStore(),
  embedded: async (t) => openEmbeddedStore(await temporaryFolder(t), {}),
  ...(MONGODB_URI !== undefined && { MongoDB: (t) => openMongoStore(newDatabase(t), { onWarning: () => undefined }) }),
};

const otherSchema = z.strictObject({ _id: z.string(), at: z.string(), text: z.string() });

const OTHERS: CollectionDefinition<z.infer<typeof otherSchema>> = {
  name: 'others',
  schema: otherSchema,
  key: ['_id'],
  indexes: [['text']],
  types: { _id: 'object_id', at: 'date' },
};

/** More than are put at once. */
const MANY = 700;

/** FerretDB takes milliseconds for each put, and more with each that it has. */
const SOME = 40;

/** Everything that a store can hold: several systems and protocols, failures, kinds with and without types. */
async function fill(store: ResultStore, ordinary: number): Promise<void> {
  const rebooted = { ...SYSTEM, memoryBytes: SYSTEM.memoryBytes - 4096 };
  for (let index = 0; index < ordinary; index += 1) await store.putMeasurement(sampleMeasurement(index));
  await store.putMeasurement(sampleMeasurement(1, { system: sampleSystem({ cores: 64 }) }));
  await store.putMeasurement(sampleMeasurement(2, { system: rebooted, occasion: 2 }));
  await store.putMeasurement(
    sampleMeasurement(3, { outcome: { kind: 'failure', reason: 'crashed', message: 'ü\n\0' } }),
  );
  await store.collection(NOTES).putMany([note('x', { extra: { 'a.b': [[1]], $: null } }), note('ü\n', { pages: 0.1 })]);
  await store
    .collection(OTHERS)
    .put({ _id: '0123456789abcdef01234567', at: '2026-01-02T03:04:05.678Z', text: 'not an id' });
}

async function exported(store: ResultStore): Promise<string> {
  return (await collect(toJsonLines(readRecords(store)))).join('');
}

async function imported(text: string, store: ResultStore, chunkBytes = 4096) {
  return putRecords(fromJsonLines(chunksOf(text, chunkBytes), 'results.jsonl'), store);
}

/** In pieces that end in the middle of lines and characters. */
async function* chunksOf(text: string, bytes: number): AsyncIterable<Uint8Array> {
  const buffer = Buffer.from(text);
  for (let start = 0; start < buffer.length; start += bytes)
    yield Promise.resolve(buffer.subarray(start, start + bytes));
}

describe('moving a store', () => {
  if (MONGODB_URI === undefined) it('between MongoDB and others', needsServer);
  for (const [from, openFrom] of Object.entries(BACKENDS)) {
    for (const [to, openTo] of Object.entries(BACKENDS)) {
      it(`takes everything from ${from} to ${to} and back, losslessly, also twice`, async (t) => {
        const first = await openFrom(t);
        const second = await openTo(t);
        const third = await openFrom(t);
        t.after(() => Promise.all([first, second, third].map((store) => store.close())));
        const ordinary = [from, to].includes('MongoDB') ? SOME : MANY;
        await fill(first, ordinary);
        const text = await exported(first);
        assert.deepEqual(await imported(text, second), { measurements: ordinary + 2, documents: 3 });
        await imported(text, second);
        assert.equal(await exported(second), text);
        await imported(await exported(second), third);
        assert.equal(await exported(third), text);
        // Indexes have come along.
        assert.equal((await collect(third.collection(NOTES).find({ year: '2020', shelf: 'a' }))).length, 2);
        assert.equal((await collect(third.collection(OTHERS).find({ text: 'not an id' }))).length, 1);
      });
    }
  }

  const refusals: readonly [string, (lines: string[]) => readonly string[], RegExp][] = [
    ['an empty file', () => [''], /results\.jsonl:1: the file is empty/],
    ['another file', () => ['{"a":1}', ''], /results\.jsonl:1: expected .*mlmodelscope-store/],
    [
      'a newer format',
      ([head = '', ...rest]) => [head.replace(':3}', ':4}'), ...rest],
      /version 4 .* update this program/,
    ],
    ['a file that was cut off', (lines) => [...lines.slice(0, 4), '{"kind":"meas'], /results\.jsonl:5: not JSON/],
    [
      'a broken measurement',
      ([head = '', first = '']) => [head, first.replace('"cost_ms":', '"cost_ms":-')],
      /:2: .*cost_ms/,
    ],
    [
      'a run of 1e308 ms',
      ([head = '', first = '']) => [head, first.replace(/"run_ms":\[[^,]*/, '"run_ms":[1e308')],
      /:2: a time of 1e\+308 ms, expected 0, or from/,
    ],
    [
      'a document without its key',
      (lines) => lines.map((line) => line.replace('"title":"x"', '"other":"x"')),
      /:4: document: a field of its key is missing/,
    ],
    [
      'one collection with two keys',
      (lines) => [...lines.slice(0, 4), (lines[3] ?? '').replace('"key":["shelf","title"]', '"key":["title"]')],
      /:5: collection: documents of notes have another key in the lines before/,
    ],
    ['endless nesting', ([head = '']) => [head, '['.repeat(100_000)], /:2: not JSON \(nested deeper than 64 levels\)/],
    [
      'millions of empty lists',
      ([head = '']) => [head, `[${'[],'.repeat(2 ** 23)}[]]`],
      /:2: not JSON \(more than \d+ values\)/,
    ],
    [
      'a collection that is the store’s own',
      ([head = '']) => [
        head,
        '{"kind":"document","collection":{"name":"systems","key":["a"],"indexes":[]},"document":{}}',
      ],
      /:2: .*a name that a store needs/,
    ],
  ];
  it('has the lines before one that cannot be read', async () => {
    const from = await openMemoryStore();
    const into = await openMemoryStore();
    await from.putMeasurement(sampleMeasurement(1));
    await from.putMeasurement(sampleMeasurement(2));
    const lines = (await exported(from)).split('\n');
    await assert.rejects(imported([...lines.slice(0, 3), 'broken'].join('\n'), into), {
      message: /results\.jsonl:4: .* The lines before it have been stored\.$/,
    });
    assert.equal((await exported(into)).split('\n').length, lines.length);
  });

  it('puts no more at once than there is memory for', async () => {
    let open = 0;
    let most = 0;
    const counting = withChanges(await openMemoryStore(), async (put) => {
      most = Math.max(most, ++open);
      await put();
      open--;
    });
    const text = 'x'.repeat(2 ** 20);
    const shape = { name: 'notes', key: ['title'], indexes: [] };
    const records = Array.from({ length: 70 }, (_, i) => {
      return { kind: 'document', collection: shape, document: { title: String(i), text } } as const;
    });
    assert.deepEqual(await putRecords(Readable.from(records), counting), { measurements: 0, documents: 70 });
    // 32 MiB of documents of a mebibyte and something.
    assert.equal(most, 32);
  });

  for (const [what, change, message] of refusals) {
    it(`refuses ${what}, saying where`, async () => {
      const store = await openMemoryStore();
      await store.putMeasurement(sampleMeasurement(1));
      await store.putMeasurement(sampleMeasurement(2));
      await store.collection(NOTES).put(note('x'));
      const lines = (await exported(store)).split('\n');
      const importing = imported(change(lines).join('\n'), await openMemoryStore());
      await assert.rejects(importing, { code: 'usage', message });
    });
  }
});
