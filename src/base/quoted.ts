const LONGEST_SHOWN = 80;

/** A text without effect on a terminal: control, formatting and unassigned characters are written as `\u{…}`. */
export function escaped(text: string): string {
  return text.replace(/\p{C}/gu, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

/** A text from a file or a request as messages show it: in double quotes, short, and without effect on a terminal. */
export function quoted(text: string): string {
  const short = text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;
  return escaped(JSON.stringify(short));
}
