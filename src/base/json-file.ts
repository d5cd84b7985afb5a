import { parseBoundedJson } from './bounded-json.js';
import { readRegularFile } from './regular-file.js';

/** Takes bounded time and memory. @throws Error that describes what was found instead */
export async function readJsonFile(path: string, mostBytes: number): Promise<unknown> {
  const file = await readRegularFile(path, mostBytes);
  if (!file.ok) throw new Error(`found ${file.found}`);
  return parseBoundedJson(file.bytes.toString('utf8'));
}
