const MAX_QUOTED_LENGTH = 60;

/** A text without effect on a terminal: control, formatting and unassigned characters are written as `\u{…}`. */
export function printable(text: string): string {
  return text.replace(/\p{C}/gu, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

/** A text from outside as messages show it: in double quotes, short, and without effect on a terminal. */
export function quote(text: string): string {
  const short = text.length > MAX_QUOTED_LENGTH ? `${text.slice(0, MAX_QUOTED_LENGTH)}…` : text;
  return printable(JSON.stringify(short));
}
