import { PlatformError, readRegularFile } from '../../src/plugin-api.js';
import type { LoadSettings } from './settings.js';

const MAX_BYTES = 16 * 2 ** 20;

const ROW = /^(\d*\.?\d+)(?:,(\d{1,4}))?$/;

/** Rows of a CSV file, `ms` or `ms,batch`; a first row with other text is a heading. @throws PlatformError `usage` */
export async function readArrivals(path: string): Promise<NonNullable<LoadSettings['arrivals']>> {
  const file = await readRegularFile(path, MAX_BYTES);
  if (!file.ok) throw new PlatformError('usage', `${path}: expected a file of arrivals, found ${file.found}`);
  const lines = file.bytes
    .toString('utf8')
    .split(/\r?\n/)
    .map((line) => line.replaceAll(' ', ''));
  const first = lines[0] !== undefined && /[a-z]/i.test(lines[0]) ? 1 : 0;
  const arrivals: (number | [number, number])[] = [];
  for (const [index, line] of lines.entries()) {
    if (index < first || line === '') continue;
    const [, ms, samples] = ROW.exec(line) ?? [];
    if (ms === undefined) {
      throw new PlatformError('usage', `${path}, line ${index + 1}: expected ms or ms,batch, as in 12.5 or 12.5,4`);
    }
    const before = arrivals.at(-1) ?? 0;
    const atMs = Number(ms);
    if (atMs < (typeof before === 'number' ? before : before[0])) {
      throw new PlatformError('usage', `${path}, line ${index + 1}: ${ms} ms is before the line above; sort the times`);
    }
    arrivals.push(samples === undefined ? atMs : [atMs, Number(samples)]);
  }
  if (arrivals.length < 2)
    throw new PlatformError('usage', `${path}: expected at least two arrivals, one in each line`);
  return arrivals;
}
