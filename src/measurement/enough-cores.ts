import { counted } from '../base/counted.js';
import { PlatformError } from '../base/errors.js';
import type { RunOptions } from './system.js';

interface Cores {
  readonly cores: number;
}

/** Threads that share a core take turns: runs take longer than with one thread for each core, and hundreds stop a machine. */
export function assertEnoughCores({ threads, interOpThreads = 1 }: RunOptions, { cores }: Cores): void {
  const asked = [
    ['threads', '--threads', threads],
    ['inter_op_threads', '--inter-op-threads', interOpThreads],
  ] as const;
  for (const [key, option, count] of asked) {
    if (count <= cores) continue;
    const problem = `${key}: ${counted(count, 'thread')} on ${counted(cores, 'core')} of the agent's machine`;
    throw new PlatformError(
      'usage',
      `${problem}; ask for at most ${cores} with ${option}, or \`${key}\` in a manifest`,
    );
  }
}
