import type { Writable } from 'node:stream';

export interface Terminal {
  readonly out: (text: string) => void;
  readonly err: (line: string) => void;
  readonly errStream: Writable;
  readonly isInteractive: boolean;
  /** Whether `out` may be coloured: a terminal, and NO_COLOR is not set (https://no-color.org). */
  readonly color: boolean;
  /** Columns of the terminals `out` and `err`; undefined where they are not terminals, or do not know their size. */
  readonly columns: { readonly out: number | undefined; readonly err: number | undefined };
}

/** Controls, line ends, changes of writing direction: terminals execute them in foreign names. Not tab and newline. */
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

export function printable(text: string): string {
  return text.replace(CONTROL, '\ufffd');
}

/** Colours. They are the only control sequences that this program writes itself. */
const COLOR = /\u001b\[[0-9;]*m/;

/** Keeps the colours of a text, and treats the rest as {@link printable} does. */
function printableInColor(text: string): string {
  const parts = text.split(new RegExp(`(${COLOR.source})`));
  return parts.map((part) => (COLOR.test(part) ? part : printable(part))).join('');
}

export function processTerminal(): Terminal {
  const { stdout, stderr, env } = process;
  const noColor = env['NO_COLOR'] !== undefined && env['NO_COLOR'] !== '';
  const shown = noColor ? printable : printableInColor;
  // Where there is no terminal, Node leaves isTTY undefined, and other libraries treat undefined as unset.
  const isOutTerminal = Boolean(stdout.isTTY);
  return {
    // A file or another program gets the text unchanged.
    out: (text) => void stdout.write(isOutTerminal ? shown(text) : text),
    err: (line) => void stderr.write(`${printable(line)}\n`),
    errStream: stderr,
    isInteractive: Boolean(stderr.isTTY) && env['TERM'] !== 'dumb',
    color: isOutTerminal && !noColor,
    // A terminal that does not know its size states 0.
    columns: { out: stdout.columns || undefined, err: stderr.columns || undefined },
  };
}
