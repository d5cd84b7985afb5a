import { numberIn, wholeNumber } from './bounded-number.js';
import { PlatformError } from './errors.js';

/** Names the threads of commands that are not told otherwise. */
export const THREADS_VARIABLE = 'MLMODELSCOPE_THREADS';

/** Threads of the runtime. */
export const threadsSchema = wholeNumber(1, 1024);

/** Threads of the runtime where no option says: those of the environment, else 1. @throws PlatformError `usage` */
export function defaultThreads(environment: Readonly<NodeJS.ProcessEnv> = process.env): number {
  const text = environment[THREADS_VARIABLE];
  if (text === undefined || text === '') return 1;
  const { data: threads, error } = threadsSchema.safeParse(numberIn(text));
  if (threads !== undefined) return threads;
  throw new PlatformError('usage', `${THREADS_VARIABLE}: expected ${error?.issues[0]?.message}`);
}
