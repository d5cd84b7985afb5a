import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromJsonLines, toJsonLines } from '../../src/store/json-lines.js';
import type { TransferRecord } from '../../src/store/transfer-record.js';
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
