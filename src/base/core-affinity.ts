import { execFileSync } from 'node:child_process';
import { readSystemFile } from './system-file.js';

const LIMIT_MS = 5000;

/** The numbers of a list of cores or nodes as Linux writes it, such as 0-2,5. */
export function numbersIn(list: string): readonly number[] {
  return list.split(',').flatMap((range) => {
    const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(range.trim()) ?? [];
    if (first === undefined) return [];
    return Array.from({ length: Number(last) - Number(first) + 1 }, (_, index) => Number(first) + index);
  });
}

/** The cores that this process may use; none where the system does not say. */
function allowedCores(): readonly number[] {
  const status = readSystemFile('/proc/self/status') ?? '';
  return numbersIn(/^Cpus_allowed_list:\s*(\S+)$/m.exec(status)?.[1] ?? '');
}

/** Lets all threads of this process run on these cores only, where Linux and its user allow it. */
function useCores(cores: readonly number[]): void {
  try {
    const args = ['--all-tasks', '--cpu-list', '--pid', cores.join(','), String(process.pid)];
    execFileSync('taskset', args, { stdio: 'ignore', timeout: LIMIT_MS });
  } catch {
    // The processes then share their cores, which lateness and service times show.
  }
}

/**
 * A load run leaves the last core to the process that sends queries. Where that process may come first (chrt), it would
 * otherwise interrupt the model on the model's own core, with other cores idle.
 */
export function useLastCore(): void {
  const core = allowedCores().at(-1);
  if (core !== undefined) useCores([core]);
}

/** Keeps this process off the last core where its threads fit on the others. @returns undoes it */
export function leaveLastCore(threads: number): () => void {
  const cores = allowedCores();
  if (cores.length <= threads) return () => undefined;
  useCores(cores.slice(0, -1));
  return () => useCores(cores);
}
