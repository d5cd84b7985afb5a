import { availableParallelism } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { WorkProbe } from '../../agent/jobs/core-probe.js';
import { watchConditions } from '../../agent/jobs/watch-conditions.js';
import { numbersIn } from '../../base/core-affinity.js';
import { counted } from '../../base/counted.js';
import { PlatformError } from '../../base/errors.js';
import { maxOf, minOf } from '../../base/long-lists.js';
import { sumOf } from '../../base/sum-of.js';
import { type ReadSystemFile, readSystemFile } from '../../base/system-file.js';
import type { Conditions } from '../../measurement/conditions.js';
import { machineWarnings, type NoiseWarning } from '../../measurement/noise.js';
import { type Check, type Finding, runChecks, sorted } from './finding.js';

export interface Machine {
  readonly read: ReadSystemFile;
  readonly environment: Readonly<NodeJS.ProcessEnv>;
  readonly threads: number;
  /** Cores that a process may use. */
  readonly cores: number;
  /** The load during a short look; undefined where the operating system does not state it. */
  readonly conditions: Conditions | undefined;
  /** Share of the probes during which another machine shared a core. */
  readonly sharedShare: number;
}

const CPUS = '/sys/devices/system/cpu';

function ofCores({ read }: Machine, file: string): readonly string[] {
  const cores = numbersIn(read(`${CPUS}/online`) ?? '');
  return cores.flatMap((core) => read(`${CPUS}/cpu${core}/${file}`)?.trim() ?? []);
}

export const WHY: Readonly<Record<NoiseWarning['cause'], string>> = {
  steal: 'a run stands still while another machine has the core',
  shared_core: 'kernels take up to 1.7 times as long on a core that works for another machine too',
  other_load: 'other processes take cores and caches from the runs',
  quota: 'all threads stand still when the quota is used up',
  frequency: 'a latency follows the frequency of the core',
  threads: 'threads that wait for a core make each other wait',
  spread: 'a difference below the spread cannot be seen',
  page_faults: 'a run waits for the disk, which takes milliseconds',
};

const MAX_LOAD = 0.2;

/** Variables that change how runtimes and the memory allocator work. */
const STEERING = /^(OMP|GOMP|KMP|MKL|OPENBLAS|ORT|MLAS|MALLOC|GLIBC)_|^(GLIBC_TUNABLES|LD_PRELOAD)$/;

function physicalCores(machine: Machine): number {
  return new Set(ofCores(machine, 'topology/thread_siblings_list')).size;
}

const CHECKS: readonly Check<Machine>[] = [
  {
    id: 'frequency_scaling',
    level: 'warn',
    find: (machine) => {
      const governors = [...new Set(ofCores(machine, 'cpufreq/scaling_governor'))];
      const lowest = minOf(ofCores(machine, 'cpufreq/scaling_min_freq').map(Number));
      const highest = maxOf(ofCores(machine, 'cpufreq/scaling_max_freq').map(Number));
      const isFixed = governors.every((governor) => governor === 'performance') || highest <= lowest * 1.05;
      if (governors.length === 0 || isFixed) return undefined;
      return `governor ${governors.join(', ')}, from ${lowest / 1000} to ${highest / 1000} MHz`;
    },
    why: 'a latency follows the frequency that the core has at that moment',
    remedy: 'set a fixed frequency: cpupower frequency-set -g performance',
  },
  {
    id: 'turbo',
    level: 'info',
    find: ({ read }) => {
      const isOff =
        read(`${CPUS}/intel_pstate/no_turbo`)?.trim() !== '0' && read(`${CPUS}/cpufreq/boost`)?.trim() !== '1';
      return isOff ? undefined : 'turbo is on';
    },
    why: 'the frequency falls when more cores work, or when the processor becomes hot',
    remedy: `turn it off to compare small differences: 1 in ${CPUS}/intel_pstate/no_turbo, or 0 in ${CPUS}/cpufreq/boost`,
  },
  {
    id: 'thermal_throttling',
    level: 'warn',
    find: (machine) => {
      const count = sumOf(ofCores(machine, 'thermal_throttle/core_throttle_count').map(Number));
      return count > 0 ? `the processor was throttled ${counted(count, 'time')} since the machine started` : undefined;
    },
    why: 'a hot processor lowers its frequency during long runs',
    remedy: 'improve the cooling, or let the machine cool down between runs',
  },
  {
    id: 'virtual_machine',
    level: 'info',
    find: ({ read }) => {
      const isVirtual = /^flags\s*:.*\bhypervisor\b/m.test(read('/proc/cpuinfo') ?? '');
      return isVirtual ? 'this is a virtual machine' : undefined;
    },
    why: 'other machines on the same host change latencies, and not all of that is visible here',
    remedy: 'use a machine with cores of its own for small differences',
  },
  {
    id: 'load_before',
    level: 'warn',
    find: ({ read, cores }) => {
      const average = Number.parseFloat(read('/proc/loadavg') ?? '');
      return average / cores > MAX_LOAD ? `load average ${average} on ${counted(cores, 'core')}` : undefined;
    },
    why: 'other processes ran in the last minute, and take caches and cores from a measurement',
    remedy: 'stop them, and wait a minute',
  },
  {
    id: 'quota_below_threads',
    level: 'warn',
    find: ({ read, threads }) => {
      const [, limit, period] = /^(\d+) (\d+)$/m.exec(read('/sys/fs/cgroup/cpu.max') ?? '') ?? [];
      const cores = Number(limit) / Number(period);
      if (!(cores < threads)) return undefined;
      return `the control group may use ${cores} cores, for ${counted(threads, 'thread')}`;
    },
    why: WHY.quota,
    remedy: "raise the container's limit, or ask for fewer threads",
  },
  {
    id: 'threads_on_siblings',
    level: 'warn',
    find: (machine) => {
      const { threads, cores } = machine;
      const physical = physicalCores(machine);
      if (physical === 0 || threads <= physical || threads > cores) return undefined;
      return `${counted(threads, 'thread')} on ${counted(physical, 'physical core')}`;
    },
    why: 'two threads of one core share its execution units',
    remedy: (machine) => `ask for at most ${physicalCores(machine)} with --threads`,
  },
  {
    id: 'numa',
    level: 'info',
    find: ({ read }) => {
      const nodes = numbersIn(read('/sys/devices/system/node/online') ?? '').length;
      return nodes < 2 ? undefined : `memory is divided into ${nodes} nodes`;
    },
    why: 'a thread reads memory of another node more slowly',
    remedy: 'bind the command to one node: numactl --cpunodebind=0 --membind=0',
  },
  {
    id: 'swap',
    level: 'warn',
    find: ({ read }) => {
      const kib = (name: string): number =>
        Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(read('/proc/meminfo') ?? '')?.[1]);
      const used = kib('SwapTotal') - kib('SwapFree');
      return used > 0 ? `${(used / 1024).toFixed(0)} MiB are swapped out` : undefined;
    },
    why: 'reading swapped memory takes milliseconds',
    remedy: 'free memory, then swapoff -a',
  },
  {
    id: 'huge_pages',
    level: 'info',
    find: ({ read }) => {
      const mode = /\[(\w+)\]/.exec(read('/sys/kernel/mm/transparent_hugepage/enabled') ?? '')?.[1];
      return mode === 'always' ? 'transparent huge pages are always on' : undefined;
    },
    why: 'large models run faster with them than on machines with another mode',
    remedy: 'use one mode on all machines that you compare (madvise is the usual one)',
  },
  {
    id: 'environment',
    level: 'warn',
    find: (machine) => {
      const names = Object.keys(machine.environment).filter((name) => STEERING.test(name));
      if (names.length === 0) return undefined;
      return `${names.toSorted().join(', ')} ${names.length === 1 ? 'is' : 'are'} set`;
    },
    why: 'these variables change threads, kernels or memory of a runtime, and no document states them',
    remedy: 'unset them, or set them alike for all results that you compare',
  },
];

const MAX_SHARED = 0.1;

/** A warning of noise as a finding: its message ends with its remedy. */
export function findingOfWarning({ cause, message }: { readonly cause: string; readonly message: string }): Finding {
  const [, found = message, remedy = 'measure again on a quieter machine'] = /^(.*); ([^;]*)$/s.exec(message) ?? [];
  return {
    id: cause,
    level: 'warn',
    found,
    why: WHY[cause as NoiseWarning['cause']] ?? 'the numbers may be off',
    remedy,
  };
}

export function machineFindings(machine: Machine): Finding[] {
  const { conditions, threads, cores, sharedShare } = machine;
  const shared = `another machine ran on the same core during ${(sharedShare * 100).toFixed(0)} % of the probes; use a machine with cores of its own, or wait`;
  const warnings = machineWarnings({
    conditions: conditions === undefined ? [] : [conditions],
    threads,
    cores,
    again: 'before you measure',
    shared: sharedShare > MAX_SHARED ? shared : undefined,
  });
  return sorted([...warnings.map(findingOfWarning), ...runChecks(CHECKS, machine)]);
}

/** Time between the two looks at the load, and the number of probes between them. */
const LOOK_MS = 400;
const PROBES = 20;

/** Looks at this machine for half a second. */
export async function examineMachine(threads: number): Promise<Finding[]> {
  const nowNs = (): bigint => process.hrtime.bigint();
  const end = watchConditions(nowNs);
  const probe = new WorkProbe(nowNs);
  const taken: number[] = [];
  for (let index = 0; index < PROBES; index++) {
    taken.push(await probe.take(1));
    await setTimeout(LOOK_MS / PROBES);
  }
  const sharedShare = taken.filter((ns) => probe.isShared(ns)).length / taken.length;
  return machineFindings({
    read: readSystemFile,
    environment: process.env,
    threads,
    cores: availableParallelism(),
    conditions: end(),
    sharedShare,
  });
}

/** @throws PlatformError `unavailable` with every finding that makes latencies of this machine doubtful */
export async function requireFitMachine(threads: number): Promise<void> {
  const findings = (await examineMachine(threads)).filter(({ level }) => level !== 'info');
  if (findings.length === 0) return;
  const lines = findings.map(({ id, found, remedy }) => `  ${id}: ${found}; ${remedy}`);
  const problem = '--strict: this machine is not fit to measure, so that nothing was measured:';
  throw new PlatformError('unavailable', [problem, ...lines].join('\n'));
}
