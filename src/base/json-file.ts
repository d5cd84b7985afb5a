import { isUtf8 } from 'node:buffer';
import { parseBoundedJson } from './bounded-json.js';
import { messageOf, PlatformError } from './errors.js';
import { quoted } from './quoted.js';
import { readRegularFile } from './regular-file.js';

/** A thousand models with ten thousand bricks take some megabytes, and their recipes some tens of them. */
const MAX_BYTES = 256 * 2 ** 20;

const MAX_NAMED_KEYS = 5;

type JsonObject = Readonly<Record<string, unknown>>;

function describe(content: unknown): string {
  if (typeof content !== 'object' || content === null || Array.isArray(content)) return 'JSON that is no object';
  const { format, ...others } = content as JsonObject;
  if (typeof format === 'string') return `a document of the format ${quoted(format)}`;
  const keys = Object.keys(others);
  if (keys.length === 0) return 'an empty object';
  const named = keys.slice(0, MAX_NAMED_KEYS).map((key) => quoted(key));
  const more = keys.length > MAX_NAMED_KEYS ? ', …' : '';
  return `a document with the keys ${named.join(', ')}${more}`;
}

/**
 * Reads a document in bounded time and memory.
 *
 * @param kind of the document, and the remedy, for the message
 * @param isOfKind tells it from documents of other kinds
 * @throws PlatformError `usage` where the file is missing, too large, no JSON, or a document of another kind
 */
export async function readJsonFile(
  path: string,
  kind: string,
  remedy: string,
  isOfKind: (content: JsonObject) => boolean = () => true,
): Promise<unknown> {
  let content: unknown;
  try {
    const file = await readRegularFile(path, MAX_BYTES);
    if (!file.ok) throw new Error(`found ${file.found}`);
    if (!isUtf8(file.bytes) || file.bytes.includes(0)) throw new Error('found a file that is no UTF-8 text');
    content = parseBoundedJson(file.bytes.toString('utf8'));
  } catch (cause) {
    throw new PlatformError('usage', `${path}: not a readable ${kind} (${messageOf(cause)}); ${remedy}`, { cause });
  }
  if (isOfKind((content ?? {}) as JsonObject)) return content;
  throw new PlatformError('usage', `${path}: expected a ${kind}, found ${describe(content)}; ${remedy}`);
}
