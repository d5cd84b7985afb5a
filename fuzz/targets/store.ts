import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fromJsonLines, toJsonLines } from '../../src/store/json-lines.js';
import { openMemoryStore } from '../../src/store/memory/open.js';
import type { ResultStore } from '../../src/store/result-store.js';
import { defineAnyDocument } from '../../src/store/transfer-record.js';
import { putRecords, readRecords } from '../../src/store/transfer.js';
import { sampleMeasurement } from '../../test/store/sample-measurement.js';
import { mutateBytes } from '../mutate/bytes.js';
import { mutateJsonLines } from '../mutate/lines.js';
import { mutateText } from '../mutate/text.js';
import { readOrRefused, type Target } from './target.js';

const SOURCE = 'export.jsonl';

/** As version 0.1 wrote it. */
const OLDER = join(import.meta.dirname, '../../../test/fixtures-of-0.1', SOURCE);

/** Bytes that are read at a time, so that lines are split across chunks. */
const CHUNK_BYTES = 4096;

async function exported(from: ResultStore): Promise<Buffer> {
  const lines: string[] = [];
  for await (const line of toJsonLines(readRecords(from))) lines.push(line);
  return Buffer.from(lines.join(''));
}

async function imported(bytes: Uint8Array): Promise<ResultStore> {
  const into = await openMemoryStore();
  const starts = Array.from({ length: Math.ceil(bytes.length / CHUNK_BYTES) }, (_, i) => i * CHUNK_BYTES);
  const chunks = Readable.from(starts.map((start) => bytes.subarray(start, start + CHUNK_BYTES)));
  await putRecords(fromJsonLines(chunks, SOURCE), into);
  return into;
}

/** @throws where imported records cannot be imported again from their export, or change on the way */
async function assertMoves(from: ResultStore): Promise<void> {
  const text = await exported(from);
  const again = await imported(text).catch((cause: unknown) => {
    throw new Error('the imported records cannot be imported again', { cause });
  });
  assert.ok((await exported(again)).equals(text), 'a second import differs from the first');
}

/** Exports of stores: imported into a store, and exported from it to another one. */
export const store: Target = {
  name: 'store',
  async seeds() {
    const filled = await openMemoryStore();
    await filled.putMeasurement(sampleMeasurement(1));
    await filled.putMeasurement(sampleMeasurement(2, { context: { footprintBytes: 2 ** 20 }, occasion: 2 }));
    const outcome = { kind: 'failure', reason: 'crashed', message: 'gone' } as const;
    await filled.putMeasurement(sampleMeasurement(3, { outcome }));
    const notes = defineAnyDocument({
      name: 'notes',
      key: ['shelf', 'title'],
      indexes: [['author'], ['year', 'shelf']],
    });
    const note = { shelf: 'a', title: 'x', author: 'ann', year: '2020', extra: { 'a.b': [[1]], $: null } };
    await filled.collection(notes).putMany([note, { shelf: 'a', title: 'y' }]);
    return [await exported(filled), await readFile(OLDER)];
  },
  mutate(input, random) {
    if (random.oneIn(10)) return mutateBytes(input, random);
    const text = Buffer.from(input).toString();
    return Buffer.from(random.oneIn(4) ? mutateText(text, random) : mutateJsonLines(text, random));
  },
  check: (input) => readOrRefused(async () => assertMoves(await imported(input)), SOURCE),
};
