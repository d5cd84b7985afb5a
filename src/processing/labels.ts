import { PlatformError } from '../base/errors.js';
import { openRegularFile } from '../base/regular-file.js';

/** Far more than any list of classes takes. */
export const MAX_LABELS_BYTES = 4 * 2 ** 20;

/** A line for each class. @throws PlatformError `manifest` where there is no such file, or it is too large */
export async function readLabels(path: string): Promise<readonly string[]> {
  const wrong = (found: string): PlatformError => {
    return new PlatformError('manifest', `labels: expected a text file with a line for each class, found ${found}`);
  };
  const opened = await openRegularFile(path);
  if (!opened.ok) throw wrong(`${opened.found} at ${path}`);
  const { file, byteLength } = opened;
  try {
    if (byteLength > MAX_LABELS_BYTES) throw wrong(`${byteLength} bytes (at most ${MAX_LABELS_BYTES}) at ${path}`);
    const lines = (await file.readFile({ encoding: 'utf8' })).split(/\r?\n/);
    return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
  } finally {
    await file.close();
  }
}
