import { PlatformError, readRegularFile } from '../../src/plugin-api.js';
import { fields, type LoadSettings } from './settings.js';

const MAX_BYTES = 16 * 2 ** 20;

const ROW = /^(\d+(?:\.\d+)?|\.\d+)(?:,(\d+))?$/;

/** Words, and no number that a program wrote, like NaN and Infinity. */
const HEADING = /^(?!nan|inf)[a-z]/i;

/** Rows of a CSV file, `ms` or `ms,batch`; a first row with other text is a heading. @throws PlatformError `usage` */
export async function readArrivals(path: string): Promise<NonNullable<LoadSettings['arrivals']>> {
  const file = await readRegularFile(path, MAX_BYTES);
  if (!file.ok)
    throw new PlatformError(
      'usage',
      `${path}: expected a file of arrivals, found ${file.found}; name one (--arrivals)`,
    );
  // The decoder leaves out the mark with which some programs begin a file.
  const lines = new TextDecoder()
    .decode(file.bytes)
    .split(/\r?\n/)
    .map((line) => line.replaceAll(' ', ''));
  const first = lines[0] !== undefined && HEADING.test(lines[0]) ? 1 : 0;
  const arrivals: (number | [number, number])[] = [];
  for (const [index, line] of lines.entries()) {
    if (index < first || line === '') continue;
    const [, ms, samples] = ROW.exec(line) ?? [];
    const atMs = Number(ms);
    if (ms === undefined || !Number.isFinite(atMs)) {
      throw new PlatformError('usage', `${path}, line ${index + 1}: expected ms or ms,batch, as in 12.5 or 12.5,4`);
    }
    const batch = fields.samples.optional().safeParse(samples === undefined ? undefined : Number(samples));
    if (!batch.success) {
      const problem = `expected a batch of ${batch.error.issues[0]?.message}, found ${samples}`;
      throw new PlatformError('usage', `${path}, line ${index + 1}: ${problem}`);
    }
    const before = arrivals.at(-1) ?? 0;
    if (atMs < (typeof before === 'number' ? before : before[0])) {
      throw new PlatformError('usage', `${path}, line ${index + 1}: ${ms} ms is before the line above; sort the times`);
    }
    arrivals.push(batch.data === undefined ? atMs : [atMs, batch.data]);
  }
  if (arrivals.length < 2)
    throw new PlatformError('usage', `${path}: expected at least two arrivals, one in each line`);
  return arrivals;
}
