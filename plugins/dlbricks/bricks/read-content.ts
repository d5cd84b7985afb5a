import { messageOf, PlatformError, readJsonFile } from '../../../src/plugin-api.js';

/** A thousand models with ten thousand bricks take some megabytes, and their recipes some tens of them. */
const MAX_BYTES = 256 * 2 ** 20;

/** @throws PlatformError `usage` where the file is missing or no JSON. @param kind of the document, for the message */
export async function readContent(path: string, kind: string, remedy: string): Promise<unknown> {
  try {
    return await readJsonFile(path, MAX_BYTES);
  } catch (cause) {
    throw new PlatformError('usage', `${path}: not a readable ${kind} (${messageOf(cause)}); ${remedy}`, { cause });
  }
}
