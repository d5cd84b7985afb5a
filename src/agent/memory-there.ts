import { hostname, totalmem } from 'node:os';
import { gigabytes } from '../base/gigabytes.js';
import { minOf } from '../base/long-lists.js';
import { type ReadSystemFile, readSystemFile } from '../base/system-file.js';
import type { Limits } from '../measurement/protocol.js';
import type { MemoryNeed } from '../onnx/layers/memory-need.js';
import type { AgentDescription } from './agent-description.js';

export interface MemoryThere {
  readonly bytes: number;
  readonly bound: string;
}

function numberAfter(text: string | undefined, label: RegExp): number | undefined {
  const [, digits] = label.exec(text ?? '') ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/** The memory of this machine, or of its control group. Without a limit, that is 0 or more than the machine's. */
export function allBytes(): number {
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

/** Bytes that processes here may still take, within the control group's limit, whose cached files make room. */
export function freeBytes(read: ReadSystemFile = readSystemFile): number | undefined {
  const freeKib = numberAfter(read('/proc/meminfo'), /^MemAvailable: +(\d+) kB$/m);
  const group = '/sys/fs/cgroup';
  const limit = numberAfter(read(`${group}/memory.max`), /^(\d+)/);
  const taken = numberAfter(read(`${group}/memory.current`), /^(\d+)/);
  const cached = numberAfter(read(`${group}/memory.stat`), /^file (\d+)$/m) ?? 0;
  const known = [
    ...(freeKib === undefined ? [] : [freeKib * 1024]),
    ...(limit === undefined || taken === undefined ? [] : [Math.max(0, limit - Math.max(0, taken - cached))]),
  ];
  return known.length === 0 ? undefined : minOf(known);
}

/** How many processes the kernel has ended for lack of memory since it started; undefined where it does not say. */
export function countMemoryKills(read: ReadSystemFile = readSystemFile): number | undefined {
  return numberAfter(read('/proc/vmstat'), /^oom_kill (\d+)$/m);
}

export function memoryThere(
  { memoryLimitBytes }: Pick<Limits, 'memoryLimitBytes'>,
  { memoryBytes, host }: Pick<AgentDescription, 'memoryBytes' | 'host'>,
  free: number | undefined = host === hostname() ? freeBytes() : undefined,
): MemoryThere {
  const bounds: MemoryThere[] = [
    { bytes: memoryLimitBytes, bound: 'the limit of a measurement (memory_limit_gib in manifests)' },
    { bytes: memoryBytes, bound: `the memory of ${host}` },
    ...(free === undefined ? [] : [{ bytes: free, bound: `the free memory of ${host}` }]),
  ];
  return bounds.reduce((least, each) => (each.bytes < least.bytes ? each : least));
}

/** Memory of a runtime without a model. */
const RUNTIME_BYTES = 256 * 2 ** 20;

/** Runtimes pack weights a second time, and keep more values than they need. */
const REAL_SHARE = 2;

/**
 * Names a batch that fits; undefined where the run may fit.
 *
 * @param what the subject of a sentence
 * @param batch undefined where it cannot be changed
 */
export function memoryProblem(
  what: string,
  { weightBytes, valueBytes }: MemoryNeed,
  batch: number | undefined,
  { bytes, bound }: MemoryThere,
): string | undefined {
  if (weightBytes + valueBytes <= bytes) return undefined;
  const atBatch = batch === undefined ? '' : ` at batch ${batch}`;
  const least = `${gigabytes(weightBytes)} of weights and ${gigabytes(valueBytes)} of activations${atBatch}`;
  const largestShare = (bytes - RUNTIME_BYTES - REAL_SHARE * weightBytes) / (REAL_SHARE * valueBytes);
  const changeable = batch ?? 0;
  const fitting = 2 ** Math.floor(Math.log2(Math.max(changeable * largestShare, 0.5)));
  const advice =
    fitting >= 1 && fitting < changeable
      ? `--batch ${fitting} fits`
      : 'use smaller dimensions, or a machine with more memory';
  return `${what} needs at least ${least}, which is more than ${bound}, ${gigabytes(bytes)}; ${advice}`;
}
