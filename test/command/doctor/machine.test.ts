import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Machine, machineFindings } from '../../../src/command/doctor/machine.js';

const CPUS = '/sys/devices/system/cpu';

/** Files of a quiet machine with two physical cores of two threads each. */
const QUIET: Readonly<Record<string, string>> = {
  '/proc/cpuinfo': 'flags\t\t: fpu avx2\n',
  '/proc/loadavg': '0.01 0.02 0.03 1/100 7\n',
  '/proc/meminfo': 'SwapTotal:       1000 kB\nSwapFree:        1000 kB\n',
  '/sys/devices/system/node/online': '0\n',
  '/sys/fs/cgroup/cpu.max': 'max 100000\n',
  '/sys/kernel/mm/transparent_hugepage/enabled': 'always [madvise] never\n',
  [`${CPUS}/online`]: '0-3\n',
  ...Object.fromEntries(
    [0, 1, 2, 3].flatMap((core) => [
      [`${CPUS}/cpu${core}/cpufreq/scaling_governor`, 'performance\n'],
      [`${CPUS}/cpu${core}/cpufreq/scaling_min_freq`, '1000000\n'],
      [`${CPUS}/cpu${core}/cpufreq/scaling_max_freq`, '3000000\n'],
      [`${CPUS}/cpu${core}/thermal_throttle/core_throttle_count`, '0\n'],
      [`${CPUS}/cpu${core}/topology/thread_siblings_list`, `${core % 2},${(core % 2) + 2}\n`],
    ]),
  ),
};

const CONDITIONS = { wallMs: 500, cores: 4, stealMs: 0, othersMs: 0 };

function findings(files: Readonly<Record<string, string>>, changes: Partial<Machine> = {}) {
  const all = new Map(Object.entries({ ...QUIET, ...files }));
  const read = (path: string): string | undefined => all.get(path);
  const rest = { environment: {}, threads: 2, cores: 4, conditions: CONDITIONS, sharedShare: 0 };
  return machineFindings({ read, ...rest, ...changes });
}

describe('the doctor finds on a machine', () => {
  test('nothing where it is quiet, and nothing where no file can be read', () => {
    assert.deepEqual(findings({}), []);
    assert.deepEqual(findings({}, { read: () => undefined, conditions: undefined }), []);
  });

  const cases: Readonly<Record<string, readonly [level: string, found: RegExp, ...Parameters<typeof findings>]>> = {
    frequency_scaling: [
      'warn',
      /governor performance, powersave, from 1000 to 3000 MHz/,
      { [`${CPUS}/cpu3/cpufreq/scaling_governor`]: 'powersave\n' },
    ],
    turbo: ['info', /on/, { [`${CPUS}/intel_pstate/no_turbo`]: '0\n' }],
    thermal_throttling: ['warn', /5 times/, { [`${CPUS}/cpu2/thermal_throttle/core_throttle_count`]: '5\n' }],
    virtual_machine: ['info', /virtual/, { '/proc/cpuinfo': 'flags\t\t: fpu hypervisor avx2\n' }],
    load_before: ['warn', /load average 1.5 on 4 cores/, { '/proc/loadavg': '1.50 1.0 0.5 3/100 7\n' }],
    quota_below_threads: ['warn', /1.5 cores, for 2 threads/, { '/sys/fs/cgroup/cpu.max': '150000 100000\n' }],
    threads_on_siblings: ['warn', /3 threads on 2 physical cores/, {}, { threads: 3 }],
    threads: ['warn', /5 threads share 4 cores/, {}, { threads: 5 }],
    numa: ['info', /2 nodes/, { '/sys/devices/system/node/online': '0-1\n' }],
    swap: ['warn', /2 MiB/, { '/proc/meminfo': 'SwapTotal:       4096 kB\nSwapFree:        2048 kB\n' }],
    huge_pages: ['info', /always on/, { '/sys/kernel/mm/transparent_hugepage/enabled': '[always] madvise never\n' }],
    environment: [
      'warn',
      /^LD_PRELOAD, OMP_NUM_THREADS are set$/,
      {},
      { environment: { OMP_NUM_THREADS: '1', LD_PRELOAD: 'x.so', HOME: '/' } },
    ],
    steal: ['warn', /hypervisor gave 10.0 %/, {}, { conditions: { ...CONDITIONS, stealMs: 200 } }],
    other_load: ['warn', /took 20.0 %/, {}, { conditions: { ...CONDITIONS, othersMs: 400 } }],
    quota: ['warn', /held the runs back for 20.0 %/, {}, { conditions: { ...CONDITIONS, throttledMs: 100 } }],
    shared_core: ['warn', /same core during 30 % of the probes/, {}, { sharedShare: 0.3 }],
  };
  for (const [id, [level, found, files, changes]] of Object.entries(cases)) {
    test(id, () => {
      const [first, ...others] = findings(files, changes);
      assert.deepEqual([first?.id, first?.level, others], [id, level, []]);
      assert.match(first?.found ?? '', found);
      assert.ok(first?.why !== '' && first?.remedy !== '');
    });
  }

  test('the worst first', () => {
    const found = findings(
      { '/proc/cpuinfo': 'flags\t\t: hypervisor\n', '/proc/loadavg': '9 9 9 9/9 9\n' },
      { environment: { OMP_NUM_THREADS: '1' } },
    );
    assert.deepEqual(
      found.map(({ level }) => level),
      ['warn', 'warn', 'info'],
    );
  });
});
