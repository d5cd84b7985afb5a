const MAX_SHOWN_LENGTH = 80;

/** A text without effect on a terminal: control, formatting and unassigned characters are written as `\u{…}`. */
export function escaped(text: string): string {
  return text.replace(/\p{C}/gu, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

/** The same as {@link quoted}, with at most this many characters. */
export function quotedUpTo(text: string, longest: number): string {
  const short = text.length > longest ? `${text.slice(0, longest)}…` : text;
  return escaped(JSON.stringify(short));
}

/** A text from a file or a request as messages show it: in double quotes, short, and without effect on a terminal. */
export function quoted(text: string): string {
  return quotedUpTo(text, MAX_SHOWN_LENGTH);
}
