import { parseBoundedJson } from './bounded-json.js';
import { readRegularFile } from './regular-file.js';

/**
 * Reads a JSON file of an untrusted source, in bounded time and memory.
 *
 * @throws Error that describes the content that was found instead
 */
export async function readJsonFile(path: string, mostBytes: number): Promise<unknown> {
  const file = await readRegularFile(path, mostBytes);
  if (!file.ok) throw new Error(`found ${file.found}`);
  return parseBoundedJson(file.bytes.toString('utf8'));
}
