import { PlatformError } from '../base/errors.js';

/** Longest piece of a foreign file that a message repeats. */
const MOST_QUOTED = 80;

/**
 * A trace that cannot be read.
 *
 * @param place where in the file: `byte 123` or `line 7`
 */
export function traceError(source: string, place: string, problem: string, cause?: unknown): PlatformError {
  return new PlatformError('usage', `${source}: ${place}: ${problem}`, { cause });
}

/** Text from a file as a message may show it: short, in quotes, on one line. */
export function quoted(text: string): string {
  const shown = text.length > MOST_QUOTED ? `${text.slice(0, MOST_QUOTED)}…` : text;
  return JSON.stringify(shown);
}
