import { readFile } from 'node:fs/promises';
import { gigabytes } from '../../base/gigabytes.js';
import type { Limits } from '../../measurement/protocol.js';
import type { Failure } from '../failure.js';

/** Rare enough to cost nothing, often enough to act before a machine swaps. */
const INTERVAL_MS = 250;

/** Undefined where the process is gone. */
async function readResidentBytes(pid: number): Promise<number | undefined> {
  try {
    const kibibytes = /^VmRSS:\s+(\d+) kB/m.exec(await readFile(`/proc/${pid}/status`, 'latin1'))?.[1];
    return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
  } catch {
    return undefined;
  }
}

/** Memory is watched on Linux only. */
export function enforceLimits(pid: number, { timeLimitMs, memoryLimitBytes }: Limits, kill: () => void) {
  let broken: Failure | undefined;
  let peakBytes = 0;
  let isStopped = false;
  const end = (failure: Failure): void => {
    if (broken !== undefined) return;
    broken = failure;
    kill();
  };
  const look = async (): Promise<void> => {
    const residentBytes = (await readResidentBytes(pid)) ?? 0;
    if (isStopped) return;
    peakBytes = Math.max(peakBytes, residentBytes);
    if (residentBytes > memoryLimitBytes) {
      const [taken, limit] = [residentBytes, memoryLimitBytes].map(gigabytes);
      const message = `the worker process took ${taken} of memory, the limit is ${limit}`;
      end({ reason: 'out_of_memory', message });
    } else lookSoon();
  };
  let nextLook: NodeJS.Timeout | undefined;
  const lookSoon = (): void => void (nextLook = setTimeout(() => void look(), INTERVAL_MS));
  if (process.platform === 'linux') lookSoon();
  const message = `not done within the time limit of ${timeLimitMs / 1000} s`;
  const startTimer = (): NodeJS.Timeout => setTimeout(() => end({ reason: 'timeout', message }), timeLimitMs);
  let timer = startTimer();
  const pause = (): void => clearTimeout(timer);
  return {
    pause,
    begin() {
      pause();
      timer = startTimer();
    },
    broken: () => broken,
    peakBytes: () => peakBytes,
    stop() {
      pause();
      isStopped = true;
      clearTimeout(nextLook);
    },
  };
}
