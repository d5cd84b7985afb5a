import { messageOf } from './errors.js';
import { oneLine } from './one-line.js';

export const MAX_DEPTH = 64;

/** Counted by commas and opening brackets. Each value takes up to tens of bytes of memory. */
const MAX_VALUES = 2 ** 24;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d]);

/** The limit of parsing that a text exceeds; undefined where it exceeds none. */
function findExcess(text: string): string | undefined {
  let depth = 0;
  let values = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (inString) {
      if (character === BACKSLASH) at++;
      else if (character === QUOTE) inString = false;
    } else if (character === QUOTE) inString = true;
    else if (character === COMMA) values++;
    else if (OPENING.has(character)) {
      values++;
      if (++depth > MAX_DEPTH) return `nested deeper than ${MAX_DEPTH} levels`;
    } else if (CLOSING.has(character)) depth--;
    if (values > MAX_VALUES) return `more than ${MAX_VALUES} values`;
  }
  return undefined;
}

/**
 * The nesting is limited, so that recursion over the value is safe. @throws SyntaxError for no JSON, or past a limit
 */
export function parseBoundedJson(text: string): unknown {
  const excess = findExcess(text);
  if (excess !== undefined) throw new SyntaxError(excess);
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    // The message quotes the text, which may be binary.
    throw new SyntaxError(oneLine(messageOf(cause)), { cause });
  }
}
