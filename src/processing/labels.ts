import { PlatformError } from '../base/errors.js';
import { readRegularFile } from '../base/regular-file.js';

/** Far more than any list of classes takes. */
export const MAX_LABELS_BYTES = 4 * 2 ** 20;

/** A line for each class. @throws PlatformError `manifest` where there is no such file, or it is too large */
export async function readLabels(path: string): Promise<readonly string[]> {
  const file = await readRegularFile(path, MAX_LABELS_BYTES);
  if (!file.ok) {
    const expected = 'expected a text file with a line for each class';
    throw new PlatformError('manifest', `labels: ${expected}, found ${file.found} at ${path}`);
  }
  const lines = file.bytes.toString('utf8').split(/\r?\n/);
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}
