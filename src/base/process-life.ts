import { readFileSync, readlinkSync } from 'node:fs';
import { codeOf } from './errors.js';

/** Identified by more than the id, which a later process may reuse. Plain data, so that it can be stored. */
export interface ProcessLife {
  /** The boot of the machine, and the namespace of its process ids. */
  readonly machine: string;
  readonly pid: number;
  readonly startTicks: string;
}

/** undefined on systems other than Linux. */
export function ownLife(): ProcessLife | undefined {
  const machine = thisMachine();
  const own = readStatus(process.pid);
  return machine === undefined || own === undefined
    ? undefined
    : { machine, pid: process.pid, startTicks: own.startTicks };
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    // EPERM: it runs, as another user.
    return codeOf(thrown) === 'EPERM';
  }
}

/** Whether it has certainly ended; a process of another machine cannot be checked. */
export function hasEnded({ machine, pid, startTicks }: ProcessLife): boolean {
  if (machine !== thisMachine()) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return codeOf(error) === 'ESRCH';
  }
  const status = readStatus(pid);
  return status !== undefined && (status.isZombie || status.startTicks !== startTicks);
}

function thisMachine(): string | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return undefined;
  }
}

/** Fields 3 and 22 of /proc/PID/stat (proc(5)); the name in field 2 may have spaces and parentheses. */
function readStatus(pid: number): { readonly isZombie: boolean; readonly startTicks: string } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const startTicks = fields[22 - 3];
    return startTicks === undefined ? undefined : { isZombie: fields[0] === 'Z', startTicks };
  } catch {
    return undefined;
  }
}
