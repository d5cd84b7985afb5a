import { PlatformError } from '../base/errors.js';

/** The place in messages about facts that are known only at the end. */
export const END = 'end of the file';

/** A trace that cannot be read. @param place where in the file: `byte 123` or `line 7` */
export function traceError(source: string, place: string, problem: string, cause?: unknown): PlatformError {
  return new PlatformError('usage', `${source}: ${place}: ${problem}`, { cause });
}
