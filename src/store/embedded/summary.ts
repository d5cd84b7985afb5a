import type { z } from 'zod';
import { isDisturbed } from '../../measurement/disturbance.js';
import { decodeTexts, encodeTexts, endOf } from '../key-bytes.js';
import { countedSchema } from '../system-counts.js';
import type { Tables } from './environment.js';

/*
 * An entry for each measurement in `indexes`, which is written in the same transaction: ['', fingerprint, kind, time,
 * id]. No collection has an empty name. The entries of a system are counted, and its first and last ones give the
 * times, without reading any measurement.
 */

const QUIET = 'quiet';
const DISTURBED = 'disturbed';
const FAILED = 'failed';
const KINDS = [QUIET, DISTURBED, FAILED] as const;

/** The kind of a measurement that cannot be read; the rest of its entry is its id. */
const UNREADABLE = ['', ''] as const;

/** Digits of the id in an entry, from each of its two halves. */
const ID_DIGITS = 16;

function entryOf(id: string, text: string): Buffer {
  const [setup = '', signature = ''] = id.split('.');
  const shortId = `${setup.slice(0, ID_DIGITS)}${signature.slice(0, ID_DIGITS)}`;
  const counted = countedIn(text);
  if (counted === undefined) return encodeTexts([...UNREADABLE, shortId]);
  const { system, measuredAt } = counted;
  const [fingerprint = ''] = system.split('.');
  return encodeTexts(['', fingerprint, kindOf(counted), measuredAt, shortId]);
}

function countedIn(text: string): z.infer<typeof countedSchema> | undefined {
  try {
    return countedSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

function kindOf({ outcome, conditions }: z.infer<typeof countedSchema>): string {
  if (outcome.kind === 'failure') return FAILED;
  return isDisturbed({ outcome, conditions }) ? DISTURBED : QUIET;
}

export function putMeasurement({ measurements, indexes }: Tables, id: string, text: string): void {
  const before = measurements.get(id);
  if (before !== undefined) indexes.removeSync(entryOf(id, before));
  measurements.putSync(id, text);
  indexes.putSync(entryOf(id, text), '');
}

export function removeMeasurement({ measurements, indexes }: Tables, id: string): boolean {
  const before = measurements.get(id);
  if (before === undefined) return false;
  indexes.removeSync(entryOf(id, before));
  return measurements.removeSync(id);
}

export function addEntry({ measurements, indexes }: Tables, id: string): void {
  const text = measurements.get(id);
  if (text !== undefined) indexes.putSync(entryOf(id, text), '');
}

export function removeEntries({ indexes }: Tables, most: number): boolean {
  const keys = [...indexes.getKeys({ ...rangeOf(['']), limit: most })];
  for (const key of keys) indexes.removeSync(key);
  return keys.length === most;
}

export function sizesOf({ measurements, indexes }: Tables): {
  readonly measurements: number;
  readonly entries: number;
} {
  const { entryCount } = measurements.getStats() as { readonly entryCount: number };
  return { measurements: entryCount, entries: indexes.getKeysCount(rangeOf([''])) };
}

export interface Entries {
  readonly fingerprint: string;
  readonly measurements: number;
  readonly failed: number;
  readonly disturbed: number;
  readonly oldest: string;
  readonly newest: string;
}

export function entriesBySystem({ indexes }: Tables): readonly Entries[] {
  const found: Entries[] = [];
  // Entries of unreadable measurements come first, because their second text is empty.
  let start = endOf(encodeTexts(UNREADABLE));
  const { end } = rangeOf(['']);
  for (;;) {
    const [next] = [...indexes.getKeys({ start, end, limit: 1 })];
    if (next === undefined) return found;
    const [, fingerprint = ''] = decodeTexts(next);
    const [quiet, disturbed, failed] = KINDS.map((kind) => indexes.getKeysCount(rangeOf(['', fingerprint, kind])));
    const times = KINDS.flatMap((kind) => timesOf(indexes, ['', fingerprint, kind])).sort();
    const counts = { failed: failed ?? 0, disturbed: disturbed ?? 0 };
    const measurements = (quiet ?? 0) + counts.disturbed + counts.failed;
    found.push({ fingerprint, measurements, ...counts, oldest: times[0] ?? '', newest: times.at(-1) ?? '' });
    start = endOf(encodeTexts(['', fingerprint]));
  }
}

function timesOf(indexes: Tables['indexes'], texts: readonly string[]): readonly string[] {
  const { start, end } = rangeOf(texts);
  const ends = [
    ...indexes.getKeys({ start, end, limit: 1 }),
    ...indexes.getKeys({ start: end, end: start, reverse: true, limit: 1 }),
  ];
  return ends.flatMap((key) => decodeTexts(key)[texts.length] ?? []);
}

function rangeOf(texts: readonly string[]): { readonly start: Buffer; readonly end: Buffer } {
  const start = encodeTexts(texts);
  return { start, end: endOf(start) };
}
