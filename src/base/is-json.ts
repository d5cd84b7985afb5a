import { setImmediate } from 'node:timers/promises';

/** Readers write documents again by recursion, which deeper documents would break. */
const MAX_DEPTH = 500;

/** Characters checked before other work gets its turn; a millisecond or two. */
const CHARACTERS_AT_ONCE = 100_000;

const BLANK = /[ \t\n\r]*/y;
const SCALAR = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const UNICODE = /[0-9a-fA-F]{4}/y;

const [QUOTE, BACKSLASH, FIRST_PRINTABLE, LETTER_U] = [0x22, 0x5c, 0x20, 0x75];
const ESCAPED = new Set(Array.from('"\\/bfnrt', (character) => character.charCodeAt(0)));

/** Where a match of the sticky pattern at a place ends; undefined where there is none. */
function endOf(pattern: RegExp, text: string, start: number): number | undefined {
  pattern.lastIndex = start;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

/** Where the string ends that begins at a place. */
function endOfString(text: string, start: number): number | undefined {
  if (text.charCodeAt(start) !== QUOTE) return undefined;
  for (let at = start + 1; at < text.length;) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    if (code < FIRST_PRINTABLE) return undefined;
    const next = code === BACKSLASH ? endOfEscape(text, at + 1) : at + 1;
    if (next === undefined) return undefined;
    at = next;
  }
  return undefined;
}

function endOfEscape(text: string, start: number): number | undefined {
  const code = text.charCodeAt(start);
  if (code === LETTER_U) return endOf(UNICODE, text, start + 1);
  return ESCAPED.has(code) ? start + 1 : undefined;
}

/** Where a key with its colon ends. */
function endOfKey(text: string, start: number): number | undefined {
  const end = endOfString(text, start);
  const colon = end && endOf(BLANK, text, end);
  return colon !== undefined && text[colon] === ':' ? colon + 1 : undefined;
}

/**
 * Whether a text is one JSON value (RFC 8259), nested no deeper than 500. Builds no value, and lets other work run in
 * between: JSON.parse takes seconds and gigabytes for some megabytes of hostile text.
 */
export async function isJson(text: string): Promise<boolean> {
  /** The brackets that are open. */
  const open: string[] = [];
  let expected: 'value' | 'value or end' | 'key' | 'key or end' | 'comma or end' = 'value';
  let pauseAt = CHARACTERS_AT_ONCE;
  for (let at = endOf(BLANK, text, 0) ?? 0; at < text.length; at = endOf(BLANK, text, at) ?? at) {
    if (at >= pauseAt) {
      pauseAt = at + CHARACTERS_AT_ONCE;
      await setImmediate();
    }
    const character = text[at] ?? '';
    const bracket = open.at(-1);
    if (bracket === character && expected.endsWith('or end')) {
      open.pop();
      expected = 'comma or end';
      at++;
    } else if (expected === 'comma or end') {
      if (bracket === undefined || character !== ',') return false;
      expected = bracket === ']' ? 'value' : 'key';
      at++;
    } else if (expected.startsWith('key')) {
      const end = endOfKey(text, at);
      if (end === undefined) return false;
      expected = 'value';
      at = end;
    } else if (character === '[' || character === '{') {
      if (open.length === MAX_DEPTH) return false;
      open.push(character === '[' ? ']' : '}');
      expected = character === '[' ? 'value or end' : 'key or end';
      at++;
    } else {
      const end = endOfString(text, at) ?? endOf(SCALAR, text, at);
      if (end === undefined) return false;
      expected = 'comma or end';
      at = end;
    }
  }
  return open.length === 0 && expected === 'comma or end';
}
