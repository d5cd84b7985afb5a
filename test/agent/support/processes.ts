import { readdirSync, readFileSync } from 'node:fs';

/** Why a test that looks at processes cannot run here, or false. */
export const needsLinux = process.platform === 'linux' ? false : 'finds processes in Linux’s /proc';

interface ProcessState {
  readonly parent: number;
  readonly isZombie: boolean;
}

/** Undefined where there is no such process. */
function stateOf(pid: number): ProcessState | undefined {
  try {
    // The command's name, in brackets, may contain anything.
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
      .replace(/^.*\)\s/s, '')
      .split(' ');
    return { parent: Number(fields[1]), isZombie: fields[0] === 'Z' };
  } catch {
    return undefined;
  }
}

function isMeasuring(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('/worker.js');
  } catch {
    return false;
  }
}

/** Worker processes that `parent` started. */
export function measuringProcessesOf(parent: number): readonly number[] {
  const pids = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
  return pids.filter((pid) => stateOf(pid)?.parent === parent && isMeasuring(pid));
}

/** False once the process has ended and its parent has collected its exit status. */
export function exists(pid: number): boolean {
  return stateOf(pid) !== undefined;
}

export function isRunning(pid: number): boolean {
  const state = stateOf(pid);
  return state !== undefined && !state.isZombie;
}

/** Memory of a process; 0 where it has ended. */
export function residentBytes(pid: number): number {
  try {
    const kibibytes = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
    return Number(kibibytes ?? 0) * 1024;
  } catch {
    return 0;
  }
}
