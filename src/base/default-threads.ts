import { PlatformError } from './errors.js';

/** Names the threads of commands that are not told otherwise. */
export const THREADS_VARIABLE = 'MLMODELSCOPE_THREADS';

export const MOST_THREADS = 1024;

/** Threads of the runtime where no option says: those of the environment, else 1. @throws PlatformError `usage` */
export function defaultThreads(environment: Readonly<NodeJS.ProcessEnv> = process.env): number {
  const text = environment[THREADS_VARIABLE];
  if (text === undefined || text === '') return 1;
  const threads = Number(text);
  if (/^\d+$/.test(text) && threads >= 1 && threads <= MOST_THREADS) return threads;
  throw new PlatformError('usage', `${THREADS_VARIABLE}: expected a whole number from 1 to ${MOST_THREADS}`);
}
