import { readFileSync } from 'node:fs';

/**
 * Processor time of a process's main thread in milliseconds: other processes of the machine do not count. Source:
 * schedstat, proc(5).
 */
export function processorMs(pid: number): number {
  const [nanoseconds = ''] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'latin1').split(' ');
  return Number(nanoseconds) / 1e6;
}
