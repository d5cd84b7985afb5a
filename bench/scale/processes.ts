import { readdirSync, readFileSync } from 'node:fs';

/** Clock ticks per second in /proc; Linux reports the same number to all programs (USER_HZ). */
const TICKS_PER_SECOND = 100;

/** The role of a process here, by its command line. */
export type ProcessRole = 'agent' | 'server' | 'plugin' | 'broker' | 'database' | 'benchmark';

/** Parts of command lines; the first match decides. */
const ROLES: readonly (readonly [string, ProcessRole])[] = [
  ['scale/agent.js', 'agent'],
  ['main.js plugin', 'plugin'],
  [' serve --listen', 'server'],
  ['beam.smp', 'broker'],
  ['ferretdb', 'database'],
];

/** The role of a process; undefined for other processes, such as helpers. */
export function processRoleOf(commandLine: string): ProcessRole | undefined {
  return ROLES.find(([part]) => commandLine.includes(part))?.[1];
}

/** A process at a moment. */
export interface ProcessFigures {
  readonly pid: number;
  readonly role: ProcessRole;
  /** Processor time since its start. */
  readonly cpuMs: number;
  /** Its peak physical memory. */
  readonly peakBytes: number;
  /** Its share of physical memory now: pages that several processes share are divided among them. */
  readonly shareBytes: number;
}

/** Parent and processor time, from /proc/PID/stat: the name in its second field may have spaces and parentheses (proc(5)). */
export function readStat(stat: string): { readonly parent: number; readonly cpuMs: number } {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const field = (number: number): number => Number(fields[number - 3]);
  return { parent: field(4), cpuMs: ((field(14) + field(15)) * 1000) / TICKS_PER_SECOND };
}

/** Bytes of a line such as `VmHWM:   12345 kB`; 0 where there is none. */
export function kilobytesIn(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1] ?? 0) * 1024;
}

function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    // It has ended.
    return '';
  }
}

/**
 * A process, and its descendants that have a role.
 *
 * @param database a database that does not descend from it
 */
export function processesBelow(root: number, database?: number): readonly ProcessFigures[] {
  const pids = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? Number(name) : []));
  const stats = new Map(pids.map((pid) => [pid, readStat(read(pid, 'stat'))]));
  const descends = (pid: number): boolean => {
    const parent = stats.get(pid)?.parent ?? 0;
    return pid === root || (parent > 1 && descends(parent));
  };
  const commandLineOf = (pid: number): string => read(pid, 'cmdline').replaceAll('\0', ' ');
  const roleHere = (pid: number): ProcessRole | undefined => {
    if (pid === root) return 'benchmark';
    if (pid === database) return 'database';
    if (!descends(pid)) return undefined;
    const commandLine = commandLineOf(pid);
    // A process that was just forked, and has not started its own program yet, has the command line of its parent.
    return commandLine === commandLineOf(stats.get(pid)?.parent ?? 0) ? undefined : processRoleOf(commandLine);
  };
  return pids.flatMap((pid): ProcessFigures | readonly [] => {
    const role = roleHere(pid);
    if (role === undefined) return [];
    return {
      pid,
      role,
      cpuMs: stats.get(pid)?.cpuMs ?? 0,
      peakBytes: kilobytesIn(read(pid, 'status'), 'VmHWM'),
      shareBytes: kilobytesIn(read(pid, 'smaps_rollup'), 'Pss'),
    };
  });
}
