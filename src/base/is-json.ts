import { setImmediate } from 'node:timers/promises';

/** Readers serialize a document by recursion, which fails for deeper ones. */
const MAX_DEPTH = 500;

/** Checked before other work gets its turn; a millisecond or two. */
const CHARACTERS_AT_ONCE = 100_000;

const BLANK = /[ \t\n\r]*/y;
const SCALAR = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
/** A piece of a string, short enough for one turn. */
const PLAIN = /[^"\\\u0000-\u001f]{1,65536}/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

function findEnd(pattern: RegExp, text: string, start: number): number | undefined {
  pattern.lastIndex = start;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

/**
 * Whether a text is one JSON value (RFC 8259), nested no deeper than 500. Builds no value, and lets other work run in
 * between: JSON.parse takes seconds and gigabytes for some megabytes of hostile text.
 */
export async function isJson(text: string): Promise<boolean> {
  const open: string[] = [];
  let expected: 'value' | 'value or end' | 'key' | 'key or end' | 'colon' | 'comma or end' = 'value';
  /** undefined outside of strings */
  let afterString: 'colon' | 'comma or end' | undefined;
  let pauseAt = CHARACTERS_AT_ONCE;
  for (let at = 0; at < text.length;) {
    if (at >= pauseAt) {
      pauseAt = at + CHARACTERS_AT_ONCE;
      await setImmediate();
    }
    if (afterString !== undefined) {
      const end = findEnd(PLAIN, text, at) ?? findEnd(ESCAPE, text, at);
      if (end !== undefined) at = end;
      else if (text[at] === '"') {
        expected = afterString;
        afterString = undefined;
        at++;
      } else return false;
      continue;
    }
    at = findEnd(BLANK, text, at) ?? at;
    const character = text[at];
    if (character === undefined) break;
    const bracket = open.at(-1);
    if (bracket === character && expected.endsWith('or end')) {
      open.pop();
      expected = 'comma or end';
      at++;
    } else if (expected === 'comma or end') {
      if (bracket === undefined || character !== ',') return false;
      expected = bracket === ']' ? 'value' : 'key';
      at++;
    } else if (expected === 'colon') {
      if (character !== ':') return false;
      expected = 'value';
      at++;
    } else if (character === '"') {
      afterString = expected.startsWith('key') ? 'colon' : 'comma or end';
      at++;
    } else if (expected.startsWith('key')) return false;
    else if (character === '[' || character === '{') {
      if (open.length === MAX_DEPTH) return false;
      open.push(character === '[' ? ']' : '}');
      expected = character === '[' ? 'value or end' : 'key or end';
      at++;
    } else {
      const end = findEnd(SCALAR, text, at);
      if (end === undefined) return false;
      expected = 'comma or end';
      at = end;
    }
  }
  return afterString === undefined && open.length === 0 && expected === 'comma or end';
}
