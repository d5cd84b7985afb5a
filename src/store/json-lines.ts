import { z } from 'zod';
import { parseBoundedJson } from '../base/bounded-json.js';
import { messageOf, PlatformError } from '../base/errors.js';
import { schemaProblems } from '../base/schema-problems.js';
import { snakeCaseSchema, snakePath, withCamelKeys, withSnakeKeys } from '../base/snake-case.js';
import { measurementSchema, problemWithTimes } from '../measurement/measurement.js';
import { readKeys } from './collection-document.js';
import { collectionShapeSchema } from './collection-shape.js';
import { transferRecordSchema, type TransferRecord } from './transfer-record.js';

/** Longest line. Node cannot hold texts of a gigabyte. */
const MAX_LINE_BYTES = 256 * 1024 ** 2;

/** The first line of every file. Each change that an older version of this program would misread raises the version. */
const FORMAT = { format: 'mlmodelscope-store', version: 3 } as const;

/** Versions 1 and 2 have the keys of measurements in camelCase; version 1 has measurements in an older form. */
const KNOWN_VERSIONS: readonly unknown[] = [1, 2, FORMAT.version];

export async function* toJsonLines(records: AsyncIterable<TransferRecord>): AsyncIterable<string> {
  yield `${JSON.stringify(FORMAT)}\n`;
  for await (const record of records) {
    // The keys of documents stay as their kind defines them.
    const exported = record.kind === 'measurement' ? withSnakeKeys(record) : record;
    yield `${JSON.stringify(exported)}\n`;
  }
}

/** JSON Schema (draft 2020-12) of each line of a file as this version writes it. */
export function exportedLineJsonSchema(): object {
  const line = z.union([
    z.strictObject({ format: z.literal(FORMAT.format), version: z.literal(FORMAT.version) }).describe('The first line'),
    z.strictObject({ kind: z.literal('measurement'), measurement: measurementSchema }),
    z.strictObject({
      kind: z.literal('document'),
      collection: collectionShapeSchema,
      document: z.looseObject({}).describe('With the keys of its kind'),
    }),
  ]);
  return snakeCaseSchema(z.toJSONSchema(line)) as object;
}

/** @param source name of the file in messages @throws PlatformError `usage` with source and line for an invalid file */
export async function* fromJsonLines(chunks: AsyncIterable<Uint8Array>, source: string): AsyncIterable<TransferRecord> {
  let number = 0;
  let isTodays = true;
  const keys = new Map<string, string>();
  for await (const line of readLines(chunks, source)) {
    number += 1;
    const json = parse(line, source, number);
    if (number === 1) isTodays = requireFormat(json, source) === FORMAT.version;
    else {
      const result = transferRecordSchema.safeParse(isTodays ? imported(json) : json);
      if (!result.success) {
        const issues = result.error.issues.map((issue) =>
          isTodays ? { ...issue, path: snakePath(issue.path) } : issue,
        );
        throw wrong(source, number, schemaProblems({ issues }).join('; '));
      }
      const problem = findProblem(result.data, keys);
      if (problem !== undefined) throw wrong(source, number, problem);
      yield result.data;
    }
  }
  if (number === 0) throw wrong(source, 1, 'the file is empty');
}

function findProblem(record: TransferRecord, keys: Map<string, string>): string | undefined {
  if (record.kind === 'measurement') return problemWithTimes(record.measurement);
  const { collection, document } = record;
  const key = JSON.stringify(collection.key);
  if ((keys.get(collection.name) ?? key) !== key) {
    return `collection: documents of ${collection.name} have another key in the lines before`;
  }
  keys.set(collection.name, key);
  const found = readKeys(collection, document);
  return typeof found === 'string' ? `document: ${found}` : undefined;
}

const measurementLineSchema = z.looseObject({ kind: z.literal('measurement') });

function imported(json: unknown): unknown {
  return measurementLineSchema.safeParse(json).success ? withCamelKeys(json) : json;
}

const EXPECTED_FORMAT = `expected ${JSON.stringify(FORMAT)}, as "store export" writes it`;

function requireFormat(json: unknown, source: string): unknown {
  const { format, version } = (typeof json === 'object' && json !== null ? json : {}) as Readonly<
    Record<string, unknown>
  >;
  if (format !== FORMAT.format) throw wrong(source, 1, EXPECTED_FORMAT);
  if (!KNOWN_VERSIONS.includes(version)) {
    throw wrong(source, 1, `version ${String(version)} of the format is not known; update this program`);
  }
  return version;
}

/** @param most bytes of the longest line @throws PlatformError `usage` with source and line */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
  source: string,
  most = MAX_LINE_BYTES,
): AsyncIterable<string> {
  let begun: Buffer[] = [];
  let bytes = 0;
  let number = 1;
  for await (const chunk of chunks) {
    let rest = Buffer.from(chunk);
    for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE)) {
      yield Buffer.concat([...begun, rest.subarray(0, end)]).toString();
      [begun, bytes] = [[], 0];
      number += 1;
      rest = rest.subarray(end + 1);
    }
    begun.push(rest);
    bytes += rest.length;
    if (bytes > most) throw wrong(source, number, `longer than ${most / 1024 ** 2} MiB`);
  }
  const last = Buffer.concat(begun).toString();
  if (last !== '') yield last;
}

const NEWLINE = '\n'.charCodeAt(0);

function parse(line: string, source: string, number: number): unknown {
  try {
    return parseBoundedJson(line);
  } catch (cause) {
    if (number === 1) throw wrong(source, number, EXPECTED_FORMAT, cause);
    throw wrong(source, number, `not JSON (${messageOf(cause)}); the file may have been cut off`, cause);
  }
}

function wrong(source: string, line: number, problem: string, cause?: unknown): PlatformError {
  const stored = line === 1 ? '' : '. The lines before it have been stored.';
  return new PlatformError('usage', `${source}:${line}: ${problem}${stored}`, { cause });
}
