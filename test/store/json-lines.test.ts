import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromJsonLines, toJsonLines } from '../../src/store/json-lines.js';
import type { TransferRecord } from '../../src/store/transfer-record.js';
import { assertOfSchema } from '../schemas/validator.js';
import { sampleMeasurement } from './sample-measurement.js';

const RECORDS: readonly TransferRecord[] = [1, 2, 3].map((index) => ({
  kind: 'measurement',
  measurement: sampleMeasurement(index),
}));

async function* each<T>(values: Iterable<T>): AsyncIterable<T> {
  for (const value of values) yield await Promise.resolve(value);
}

async function allOf<T>(values: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const value of values) all.push(value);
  return all;
}

// A line is longer than several chunks, a chunk holds several lines, and characters of several bytes are torn apart.
for (const size of [7, 100, 1_000_000]) {
  test(`records are read as they were written, in chunks of ${size} bytes`, async () => {
    const bytes = Buffer.from((await allOf(toJsonLines(each(RECORDS)))).join(''));
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => {
      return bytes.subarray(i * size, (i + 1) * size);
    });
    assert.deepEqual(await allOf(fromJsonLines(each(chunks), 'a file')), RECORDS);
  });
}

test('records of version 2, with the keys of measurements in camelCase, are read', async () => {
  const lines = [{ format: 'mlmodelscope-store', version: 2 }, ...RECORDS].map((line) => `${JSON.stringify(line)}\n`);
  assert.ok(lines.join('').includes('"runMs"'));
  assert.deepEqual(await allOf(fromJsonLines(each([Buffer.from(lines.join(''))]), 'a file')), RECORDS);
});

test('measurements are written with keys in snake_case, documents with the keys of their kind', async () => {
  const collection = { name: 'notes', key: ['noteId'], indexes: [] };
  const document = { noteId: 'a', run_ms: 1, someText: 'b' };
  const records: readonly TransferRecord[] = [...RECORDS, { kind: 'document', collection, document }];
  const text = (await allOf(toJsonLines(each(records)))).join('');
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
  for (const line of lines) assertOfSchema('store-export-line', line);
  assert.ok(text.includes('"run_ms":[') && !text.includes('"runMs"'));
  assert.deepEqual(lines.at(-1), { kind: 'document', collection, document });
  assert.deepEqual(await allOf(fromJsonLines(each([Buffer.from(text)]), 'a file')), records);
});
