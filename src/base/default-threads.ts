import { numberIn, wholeNumber } from './bounded-number.js';
import { PlatformError } from './errors.js';
import { quoted } from './quoted.js';

export const THREADS_VARIABLE = 'MLMODELSCOPE_THREADS';

export const threadsSchema = wholeNumber(1, 1024);

/** Threads where no option gives them: the number in the environment, else 1. @throws PlatformError `usage` */
export function defaultThreads(): number {
  const text = process.env[THREADS_VARIABLE];
  if (text === undefined || text === '') return 1;
  const { data: threads, error } = threadsSchema.safeParse(numberIn(text));
  if (threads !== undefined) return threads;
  throw new PlatformError('usage', `${THREADS_VARIABLE}: expected ${error?.issues[0]?.message}, found ${quoted(text)}`);
}
