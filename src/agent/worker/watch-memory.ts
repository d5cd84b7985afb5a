import { readFile } from 'node:fs/promises';

/** Rare enough to cost nothing, often enough to act before a machine swaps. */
const INTERVAL_MS = 250;

export interface MemoryWatch {
  peakBytes(): number;
  stop(): void;
}

export interface MemoryWatchOptions {
  readonly limitBytes: number;
  /** Called once, with the resident memory that was too much. */
  readonly onExceeded: (residentBytes: number) => void;
}

/** Undefined where the process is gone. */
async function readResidentBytes(pid: number): Promise<number | undefined> {
  try {
    const kibibytes = /^VmRSS:\s+(\d+) kB/m.exec(await readFile(`/proc/${pid}/status`, 'latin1'))?.[1];
    return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
  } catch {
    return undefined;
  }
}

/** Linux only: elsewhere it does nothing. */
export function watchMemory(pid: number, { limitBytes, onExceeded }: MemoryWatchOptions): MemoryWatch {
  let peakBytes = 0;
  let stopped = process.platform !== 'linux';
  const look = async (): Promise<void> => {
    const residentBytes = (await readResidentBytes(pid)) ?? 0;
    if (stopped) return;
    peakBytes = Math.max(peakBytes, residentBytes);
    if (residentBytes > limitBytes) {
      stopped = true;
      onExceeded(residentBytes);
    } else {
      timer = setTimeout(() => void look(), INTERVAL_MS);
    }
  };
  let timer = stopped ? undefined : setTimeout(() => void look(), INTERVAL_MS);
  return {
    peakBytes: () => peakBytes,
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
