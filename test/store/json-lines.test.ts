import assert from 'node:assert/strict';
import { test } from 'node:test';
import { collect } from '../../src/base/collect.js';
import { PlatformError } from '../../src/base/errors.js';
import { withSnakeKeys } from '../../src/base/snake-case.js';
import { fromJsonLines, readLines, toJsonLines } from '../../src/store/json-lines.js';
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

// A line is longer than several chunks, a chunk holds several lines, and characters of several bytes are torn apart.
for (const size of [7, 100, 1_000_000]) {
  test(`records are read as they were written, in chunks of ${size} bytes`, async () => {
    const bytes = Buffer.from((await collect(toJsonLines(each(RECORDS)))).join(''));
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => {
      return bytes.subarray(i * size, (i + 1) * size);
    });
    assert.deepEqual(await collect(fromJsonLines(each(chunks), 'a file')), RECORDS);
  });
}

test('records of version 2, with the keys of measurements in camelCase, are read', async () => {
  const lines = [{ format: 'mlmodelscope-store', version: 2 }, ...RECORDS].map((line) => `${JSON.stringify(line)}\n`);
  assert.ok(lines.join('').includes('"runMs"'));
  assert.deepEqual(await collect(fromJsonLines(each([Buffer.from(lines.join(''))]), 'a file')), RECORDS);
});

test('measurements are written with keys in snake_case, documents with the keys of their kind', async () => {
  const collection = { name: 'notes', key: ['noteId'], indexes: [] };
  const document = { noteId: 'a', run_ms: 1, someText: 'b' };
  const records: readonly TransferRecord[] = [...RECORDS, { kind: 'document', collection, document }];
  const text = (await collect(toJsonLines(each(records)))).join('');
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
  for (const line of lines) assertOfSchema('store-export-line', line);
  assert.ok(text.includes('"run_ms":[') && !text.includes('"runMs"'));
  assert.deepEqual(lines.at(-1), { kind: 'document', collection, document });
  assert.deepEqual(await collect(fromJsonLines(each([Buffer.from(text)]), 'a file')), records);
});

const FIRST_LINE = '{"format":"mlmodelscope-store","version":3}';

async function refusalOf(...lines: readonly string[]): Promise<string> {
  const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
  const error = await collect(fromJsonLines(each([bytes]), 'a file')).then(
    () => assert.fail('the file is taken'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof PlatformError && error.code === 'usage');
  const stored = '. The lines before it have been stored.';
  assert.equal(error.message.endsWith(stored), !error.message.startsWith('a file:1:'), error.message);
  return error.message.replace(stored, '');
}

test('a file that is no export is refused with its line and the reason', async () => {
  const document = (key: readonly string[], fields: object): string =>
    JSON.stringify({ kind: 'document', collection: { name: 'notes', key, indexes: [] }, document: fields });
  const expected = `expected ${FIRST_LINE}, as "store export" writes it`;
  assert.equal(await refusalOf(), 'a file:1: the file is empty');
  assert.equal(await refusalOf('{"kind":"measurement"}'), `a file:1: ${expected}`);
  assert.equal(await refusalOf('[]'), `a file:1: ${expected}`);
  assert.equal(await refusalOf('null'), `a file:1: ${expected}`);
  assert.equal(
    await refusalOf('{"format":"mlmodelscope-store","version":4}'),
    'a file:1: version 4 of the format is not known; update this program',
  );
  assert.match(await refusalOf(FIRST_LINE, '{"kind":'), /^a file:2: not JSON \(.*\); the file may have been cut off$/);
  assert.match(await refusalOf(FIRST_LINE, '{"kind":"model"}'), /^a file:2: kind: /);
  assert.equal(
    await refusalOf(FIRST_LINE, document(['a'], { a: '1' }), document(['b'], { b: '1' })),
    'a file:3: collection: documents of notes have another key in the lines before',
  );
  assert.equal(
    await refusalOf(FIRST_LINE, document(['a'], { b: '1' })),
    'a file:2: document: a field of its key is missing',
  );
});

test('a measurement without a run, or with one of no time, is refused with its place', async () => {
  const line = JSON.stringify(withSnakeKeys(RECORDS[0]));
  assert.match(line, /"run_ms":\[[^\]]+\]/);
  assert.match(await refusalOf(FIRST_LINE, line.replace(/"run_ms":\[[^\]]+\]/, '"run_ms":[]')), /run_ms/);
  assert.equal(
    await refusalOf(FIRST_LINE, line.replace(/"run_ms":\[[^\]]+\]/, '"run_ms":[-1]')),
    'a file:2: measurement.outcome.run_ms.0: expected a number of at least 0',
  );
});

test('a line is read if it has the most bytes, and refused with its number if it has more', async () => {
  const most = 1024 ** 2;
  const line = Buffer.alloc(most, ' ');
  const newline = Buffer.from('\n');
  // Each line comes in three chunks, and the lines before it do not count.
  const chunks = [1, 2, 3].flatMap(() => [line.subarray(0, 10), line.subarray(10), newline]);
  assert.equal((await collect(readLines(each(chunks), 'a file', most))).length, 3);
  const longer = [...chunks, line, Buffer.from(' ')];
  await assert.rejects(collect(readLines(each(longer), 'a file', most)), /a file:4: longer than 1 MiB\./);
});
