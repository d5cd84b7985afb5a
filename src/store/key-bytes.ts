/*
 * Lists of texts as bytes, which sort like the lists: each text in UTF-8, ended by a NUL. A NUL within a text becomes
 * 01 01, and a 01 becomes 01 02. The bytes of a list begin with the bytes of each leading part of the list.
 */

const END = '\0';
const NUL = '\u0001\u0001';
const ONE = '\u0001\u0002';

/** Greater than every byte of UTF-8. */
const AFTER_ALL = Buffer.from([0xff]);

export function encodeTexts(texts: readonly string[]): Buffer {
  return Buffer.from(texts.map((text) => escaped(text) + END).join(''));
}

export function decodeTexts(bytes: Uint8Array): readonly string[] {
  return Buffer.from(bytes).toString().split(END).slice(0, -1).map(unescaped);
}

/** The upper bound of the bytes of all lists that begin with these texts. */
export function computeEnd(prefix: Buffer): Buffer {
  return Buffer.concat([prefix, AFTER_ALL]);
}

function escaped(text: string): string {
  return text.replaceAll('\u0001', ONE).replaceAll('\0', NUL);
}

function unescaped(text: string): string {
  return text.replaceAll(NUL, '\0').replaceAll(ONE, '\u0001');
}
