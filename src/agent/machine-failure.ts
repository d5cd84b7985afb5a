import { existsSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { type ErrorCode, messageOf, PlatformError } from '../base/errors.js';
import { gigabytes } from '../base/gigabytes.js';
import { inMemory } from '../predictor/memory-folder.js';
import { allBytes } from './memory-there.js';

/** A disk with less room than this counts as full. */
const MIN_FREE_BYTES = 64 * 2 ** 10;

const ROOM = 'make room there or set TMPDIR to another folder';

/** Errors of this project that a failing machine may cause. */
const OF_MACHINE_TOO: ReadonlySet<ErrorCode> = new Set(['unsupported', 'model', 'storage']);

/** Failures of the operating system in the messages of Node.js, the runtime and C++, with their remedies. */
const FAILURES: readonly (readonly [RegExp, string])[] = [
  [/no space left on device|disk quota exceeded|\bENOSPC\b|\bEDQUOT\b/i, 'make room, or set TMPDIR to another folder'],
  [/: File too large|\bEFBIG\b|\bSIGXFSZ\b/i, 'allow larger files (ulimit -f)'],
  [/too many open files|\bEMFILE\b|\bENFILE\b/i, 'allow more open files (ulimit -n)'],
  [
    /resource temporarily unavailable|\bEAGAIN\b|uv_thread_create|pthread_create/i,
    'allow more processes and threads (ulimit -u, pids.max)',
  ],
  [/\bSIGXCPU\b/, 'allow more processor time (ulimit -t)'],
  [/read-only file system|\bEROFS\b/i, 'set TMPDIR to a folder that can be written'],
  [/input\/output error|\bEIO\b/i, 'check the disk, or set TMPDIR to another folder'],
];

/** What is full where a worker keeps its temporary files; undefined where nothing is. */
export function fullDisk(temporaryFolder: string): string | undefined {
  const memory = inMemory(temporaryFolder);
  for (const folder of [dirname(temporaryFolder), ...(existsSync(memory) ? [dirname(memory)] : [])]) {
    const { bavail, bsize, files, ffree } = statfsSync(folder);
    const free = bavail * bsize;
    if (free < MIN_FREE_BYTES) return `the disk of ${folder} is full (${Math.floor(free / 2 ** 10)} KiB left); ${ROOM}`;
    if (files > 0 && ffree === 0) return `the disk of ${folder} has no room for more files; ${ROOM}`;
  }
  return undefined;
}

/** The error of a failing machine, which says nothing about what was measured. @param full see {@link fullDisk} */
export function machineFailure(said: string, full: string | undefined): PlatformError | undefined {
  if (full !== undefined) return new PlatformError('storage', full);
  const remedy = FAILURES.find(([pattern]) => pattern.test(said))?.[1];
  if (remedy === undefined) return undefined;
  return new PlatformError('storage', `this machine failed, not the model: ${said.replace(/[.\s]+$/, '')}; ${remedy}`);
}

/** With less than this share of a machine's memory left, others have taken it. */
const MIN_FREE_SHARE = 1 / 4;

/** Other processes have taken the machine's memory. @param free bytes that the job could have had, where known */
export function memoryTaken(free: number | undefined, all = allBytes()): PlatformError | undefined {
  if (free === undefined || free >= all * MIN_FREE_SHARE) return undefined;
  const left = `only ${gigabytes(free)} of ${gigabytes(all)} of memory are left on this machine`;
  return new PlatformError('storage', `${left}, and the measurement ran out of memory; end other processes there`);
}

/** The machine's error if it failed, else the same; call it while the worker's temporary files are still there. */
export function orOfMachine(thrown: unknown): unknown {
  const isOwn = thrown instanceof PlatformError && !OF_MACHINE_TOO.has(thrown.code);
  return isOwn ? thrown : (machineFailure(messageOf(thrown), fullDisk(tmpdir())) ?? thrown);
}
