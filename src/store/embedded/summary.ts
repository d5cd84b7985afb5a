import { isDisturbed } from '../../measurement/disturbance.js';
import { decodeTexts, encodeTexts, computeEnd } from '../key-bytes.js';
import { readText } from '../stored-text.js';
import { type Counted, countedSchema, type SystemCounts } from '../system-counts.js';
import type { Tables } from './environment.js';

/*
 * An entry for each measurement in `indexes`, which is written in the same transaction: ['', fingerprint, kind, time,
 * id]. No collection has an empty name. The first and last entries of a system give the times. How many there are of
 * each kind is the value of ['', '~', fingerprint, kind]; no fingerprint begins with that sign, and all come before it.
 */

const KINDS = ['quiet', 'disturbed', 'failed'] as const;

/** The kind of a measurement that cannot be read; the rest of its entry is its id. */
const UNREADABLE = ['', ''] as const;

const COUNTS = ['', '~'] as const;

function encodeCountKey(fingerprint: string, kind: string): Buffer {
  return encodeTexts([...COUNTS, fingerprint, kind]);
}

/** Digits of the id in an entry, from each of its two halves. */
const ID_DIGITS = 16;

function encodeEntry(id: string, text: string): Buffer {
  const [setup = '', signature = ''] = id.split('.');
  const shortId = `${setup.slice(0, ID_DIGITS)}${signature.slice(0, ID_DIGITS)}`;
  const read = readText(text, countedSchema);
  if (!read.ok) return encodeTexts([...UNREADABLE, shortId]);
  const { system, measuredAt } = read.value;
  const [fingerprint = ''] = system.split('.');
  return encodeTexts(['', fingerprint, classifyMeasurement(read.value), measuredAt, shortId]);
}

function classifyMeasurement(counted: Omit<Counted, 'system'>): (typeof KINDS)[number] {
  if (counted.outcome.kind === 'failure') return 'failed';
  return isDisturbed(counted) ? 'disturbed' : 'quiet';
}

export function putMeasurement(tables: Tables, id: string, text: string): void {
  removeMeasurement(tables, id);
  tables.measurements.putSync(id, text);
  add(tables, encodeEntry(id, text));
}

export function removeMeasurement(tables: Tables, id: string): boolean {
  const before = tables.measurements.get(id);
  if (before === undefined) return false;
  remove(tables, encodeEntry(id, before));
  return tables.measurements.removeSync(id);
}

export function addEntry(tables: Tables, id: string): void {
  const text = tables.measurements.get(id);
  if (text !== undefined) add(tables, encodeEntry(id, text));
}

/** @returns whether there may be more */
export function removeEntries(tables: Tables, most: number): boolean {
  const keys = [...tables.indexes.getKeys({ start: encodeTexts(['']), end: encodeTexts(COUNTS), limit: most })];
  for (const key of keys) remove(tables, key);
  return keys.length === most;
}

function add({ indexes }: Tables, entry: Buffer): void {
  if (indexes.get(entry) !== undefined) return;
  indexes.putSync(entry, '');
  addTo({ indexes }, entry, 1);
}

function remove({ indexes }: Tables, entry: Buffer): void {
  if (indexes.get(entry) === undefined) return;
  indexes.removeSync(entry);
  addTo({ indexes }, entry, -1);
}

function addTo({ indexes }: Pick<Tables, 'indexes'>, entry: Buffer, change: number): void {
  const [, fingerprint = '', kind = ''] = decodeTexts(entry);
  const key = encodeCountKey(fingerprint, fingerprint === '' ? '' : kind);
  indexes.putSync(key, String(Number(indexes.get(key) ?? 0) + change));
}

/** Counts the entries again, for a store of a version that keeps no counts. */
export function recount({ indexes }: Tables): void {
  for (const key of [...indexes.getKeys(makeRange(COUNTS))]) indexes.removeSync(key);
  indexes.putSync(encodeCountKey('', ''), String(indexes.getKeysCount(makeRange(UNREADABLE))));
  for (const fingerprint of fingerprintsIn(indexes)) {
    for (const kind of KINDS) {
      const count = indexes.getKeysCount(makeRange(['', fingerprint, kind]));
      indexes.putSync(encodeCountKey(fingerprint, kind), String(count));
    }
  }
}

interface Entries extends Readonly<Omit<SystemCounts, 'system'>> {
  readonly fingerprint: string;
}

export interface Summary {
  readonly systems: readonly Entries[];
  readonly measurements: number;
  /** As many as measurements, unless an older version has written meanwhile. */
  readonly entries: number;
}

/** Looks at a few entries of each system, however many measurements there are. */
export function readSummary({ measurements, indexes }: Tables): Summary {
  const { entryCount } = measurements.getStats() as { readonly entryCount: number };
  const counts = new Map<string, Map<string, number>>();
  let entries = 0;
  for (const { key, value } of indexes.getRange(makeRange(COUNTS))) {
    const [, , fingerprint = '', kind = ''] = decodeTexts(key);
    const ofSystem = counts.get(fingerprint) ?? new Map<string, number>();
    counts.set(fingerprint, ofSystem.set(kind, Number(value)));
    entries += Number(value);
  }
  counts.delete('');
  const systems = [...counts].flatMap(([fingerprint, ofSystem]): Entries | readonly [] => {
    const [quiet = 0, disturbed = 0, failed = 0] = KINDS.map((kind) => ofSystem.get(kind) ?? 0);
    const times = KINDS.flatMap((kind) => readTimes(indexes, ['', fingerprint, kind])).sort();
    const all = quiet + disturbed + failed;
    const oldest = times[0] ?? '';
    const newest = times.at(-1) ?? '';
    return all === 0 ? [] : { fingerprint, measurements: all, failed, disturbed, oldest, newest };
  });
  return { systems, measurements: entryCount, entries };
}

function fingerprintsIn(indexes: Tables['indexes']): readonly string[] {
  const found: string[] = [];
  // Entries of unreadable measurements come first, because their second text is empty.
  let start = computeEnd(encodeTexts(UNREADABLE));
  for (;;) {
    const [next] = [...indexes.getKeys({ start, end: encodeTexts(COUNTS), limit: 1 })];
    if (next === undefined) return found;
    const [, fingerprint = ''] = decodeTexts(next);
    found.push(fingerprint);
    start = computeEnd(encodeTexts(['', fingerprint]));
  }
}

function readTimes(indexes: Tables['indexes'], texts: readonly string[]): readonly string[] {
  const { start, end } = makeRange(texts);
  const ends = [
    ...indexes.getKeys({ start, end, limit: 1 }),
    ...indexes.getKeys({ start: end, end: start, reverse: true, limit: 1 }),
  ];
  return ends.flatMap((key) => decodeTexts(key)[texts.length] ?? []);
}

/** LMDB's binding keeps settings of its own in a range, so each call needs a new one. */
function makeRange(texts: readonly string[]): { readonly start: Buffer; readonly end: Buffer } {
  const start = encodeTexts(texts);
  return { start, end: computeEnd(start) };
}
