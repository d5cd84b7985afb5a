import { parseBoundedJson } from './bounded-json.js';
import { messageOf, PlatformError } from './errors.js';
import { readRegularFile } from './regular-file.js';

/** A thousand models with ten thousand bricks take some megabytes, and their recipes some tens of them. */
const MAX_BYTES = 256 * 2 ** 20;

/**
 * Reads a document in bounded time and memory.
 *
 * @param kind of the document, and the remedy, for the message
 * @throws PlatformError `usage` where the file is missing, too large or no JSON
 */
export async function readJsonFile(path: string, kind: string, remedy: string): Promise<unknown> {
  try {
    const file = await readRegularFile(path, MAX_BYTES);
    if (!file.ok) throw new Error(`found ${file.found}`);
    return parseBoundedJson(file.bytes.toString('utf8'));
  } catch (cause) {
    throw new PlatformError('usage', `${path}: not a readable ${kind} (${messageOf(cause)}); ${remedy}`, { cause });
  }
}
