const MAX_SHOWN_LENGTH = 80;

/** Without effect on a terminal: control, formatting and unassigned characters are written as `\u{…}`. */
export function escaped(text: string): string {
  return text.replace(/\p{C}/gu, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

export function quotedUpTo(text: string, longest: number): string {
  const short = text.length > longest ? `${text.slice(0, longest)}…` : text;
  return escaped(JSON.stringify(short));
}

/** A foreign text in messages: in double quotes, short, and without effect on a terminal. */
export function quoted(text: string): string {
  return quotedUpTo(text, MAX_SHOWN_LENGTH);
}
