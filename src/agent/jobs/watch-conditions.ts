import { maxOf, minOf } from '../../base/long-lists.js';
import { sumOf } from '../../base/sum-of.js';
import { type ReadSystemFile, readSystemFile } from '../../base/system-file.js';
import type { Conditions } from '../../measurement/conditions.js';
import type { SharedRuns } from './timed-runs.js';

/** Clock tick of /proc/stat: USER_HZ is 100 on every Linux that Node runs on (proc_stat(5)). */
const MS_PER_TICK = 10;

/** Places of the times of user, nice, system, irq and softirq in /proc/stat. */
const BUSY = [0, 1, 2, 5, 6];

const STEAL = 7;

/** From Linux's /proc/stat; undefined where its format is unknown. */
export function processorTimesIn(procStat: string) {
  const total = /^cpu +((?:\d+ ?)+)$/m.exec(procStat)?.[1]?.trim().split(' ').map(Number);
  const cores = procStat.match(/^cpu\d+ /gm)?.length ?? 0;
  const steal = total?.[STEAL];
  if (total === undefined || steal === undefined || cores === 0) return undefined;
  return { cores, busyMs: sumOf(BUSY.map((at) => total[at] ?? 0)) * MS_PER_TICK, stealMs: steal * MS_PER_TICK };
}

/** Time for which the CPU quota throttled a control group of version 2, from its cpu.stat; ms. */
export function throttledMsIn(cpuStat: string): number | undefined {
  const microseconds = /^throttled_usec (\d+)/m.exec(cpuStat)?.[1];
  return microseconds === undefined ? undefined : Number(microseconds) / 1000;
}

function mhzIn(kilohertz: string | undefined): number | undefined {
  const value = Number(kilohertz) / 1000;
  return value > 0 ? value : undefined;
}

function ifKnown<Key extends string>(key: Key, value: number | undefined): Partial<Record<Key, number>> {
  return value === undefined ? {} : ({ [key]: value } as Partial<Record<Key, number>>);
}

function difference(after: number | undefined, before: number | undefined): number | undefined {
  return after === undefined || before === undefined ? undefined : after - before;
}

/** @param nowNs the clock @returns a function that gives the load since this call; undefined without processor times */
export function watchConditions(
  nowNs: () => bigint,
  read: ReadSystemFile = readSystemFile,
): () => Conditions | undefined {
  const take = () => {
    const { user, system } = process.cpuUsage();
    return {
      times: processorTimesIn(read('/proc/stat') ?? ''),
      ownMs: (user + system) / 1000,
      throttledMs: throttledMsIn(read('/sys/fs/cgroup/cpu.stat') ?? ''),
      mhz: mhzIn(read('/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq')),
    };
  };
  const startNs = nowNs();
  const start = take();
  return () => {
    const end = take();
    if (start.times === undefined || end.times === undefined) return undefined;
    const busyMs = end.times.busyMs - start.times.busyMs;
    const frequencies = [start.mhz, end.mhz].filter((mhz) => mhz !== undefined);
    const [lowest, highest] = frequencies.length === 0 ? [] : [minOf(frequencies), maxOf(frequencies)];
    return {
      wallMs: Number(nowNs() - startNs) / 1e6,
      cores: end.times.cores,
      stealMs: Math.max(0, end.times.stealMs - start.times.stealMs),
      othersMs: Math.max(0, busyMs - (end.ownMs - start.ownMs)),
      ...ifKnown('throttledMs', difference(end.throttledMs, start.throttledMs)),
      ...ifKnown('lowestMhz', lowest),
      ...ifKnown('highestMhz', highest),
    };
  };
}

export function withSharing(
  conditions: Conditions | undefined,
  sharing: SharedRuns | undefined,
): Conditions | undefined {
  return conditions === undefined ? undefined : { ...conditions, ...sharing };
}
