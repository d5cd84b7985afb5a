import { gigabytes } from '../../base/gigabytes.js';
import type { Limits } from '../../measurement/protocol.js';
import type { Failure } from '../failure.js';
import { watchMemory } from './watch-memory.js';

export interface Enforcement {
  pause(): void;
  begin(): void;
  broken(): Failure | undefined;
  peakBytes(): number;
  stop(): void;
}

export function enforceLimits(pid: number, { timeLimitMs, memoryLimitBytes }: Limits, kill: () => void): Enforcement {
  let broken: Failure | undefined;
  const end = (failure: Failure): void => {
    if (broken !== undefined) return;
    broken = failure;
    kill();
  };
  const watch = watchMemory(pid, {
    limitBytes: memoryLimitBytes,
    onExceeded: (residentBytes) => {
      const [taken, limit] = [residentBytes, memoryLimitBytes].map(gigabytes);
      const message = `the worker process took ${taken} of memory, the limit is ${limit}`;
      end({ reason: 'out_of_memory', message });
    },
  });
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
    peakBytes: () => watch.peakBytes(),
    stop() {
      pause();
      watch.stop();
    },
  };
}
