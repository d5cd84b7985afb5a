import { counted } from '../base/counted.js';

/** How many of a machine's cores a number of threads uses, in words: "1 of 2 cores", "64 threads on 2 cores". */
export function usedCores(threads: number, cores: number): string {
  const all = counted(cores, 'core');
  return threads > cores ? `${counted(threads, 'thread')} on ${all}` : `${threads} of ${all}`;
}
