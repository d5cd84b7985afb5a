import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { processorTimesIn, throttledMsIn, watchConditions } from '../../../src/agent/jobs/watch-conditions.js';

/** As proc_stat(5) describes it; USER_HZ is 100. */
function procStat({ user = 0, idle = 0, steal = 0, cores = 2 } = {}): string {
  const core = (name: string): string => `${name} ${user} 1 2 ${idle} 5 3 4 ${steal} 0 0`;
  return [core('cpu '), ...Array.from({ length: cores }, (_, i) => core(`cpu${i}`)), 'intr 1', ''].join('\n');
}

describe('processor times from Linux', () => {
  test('are read in ms, without idle time', () => {
    assert.deepEqual(processorTimesIn(procStat({ user: 100, idle: 9999, steal: 7 })), {
      cores: 2,
      busyMs: (100 + 1 + 2 + 3 + 4) * 10,
      stealMs: 70,
    });
  });

  test('are read from a kernel whose last time is that of steal', () => {
    assert.equal(processorTimesIn('cpu  1 2 3 4 5 6 7 8\ncpu0 1 2\n')?.stealMs, 80);
  });

  for (const text of [
    '',
    'cpu  1 2 3 4 5 6 7\ncpu0 1 2\n',
    'cpu  1 2 3 4 5 6 7 8\n',
    'cpu',
    'cpu  1 2 3\ncpu0 1 2 3\n',
    'cpu  a b c d e f g h\n',
    'cpu  1 2 3 4 5 6 7 8 x\ncpu0 1\n',
    'intr 5\n',
  ]) {
    test(`are not guessed from ${JSON.stringify(text)}`, () => assert.equal(processorTimesIn(text), undefined));
  }

  test('include the time for which a quota throttled processes', () => {
    assert.equal(throttledMsIn('usage_usec 10\nnr_throttled 3\nthrottled_usec 2500\n'), 2.5);
    assert.equal(throttledMsIn('usage_usec 10\n'), undefined);
  });
});

describe('watching the conditions on the machine', () => {
  const watched = (before: Record<string, string>, after: Record<string, string>) => {
    let files = before;
    let nowNs = 1_000_000_000n;
    const conditions = watchConditions(
      () => nowNs,
      (path) => files[path],
    );
    files = after;
    nowNs = 3_000_000_000n;
    return conditions();
  };
  const frequency = '/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq';

  test('gives steal, other processes, throttling and the frequency', () => {
    const conditions = watched(
      {
        '/proc/stat': procStat({ user: 100, steal: 10 }),
        '/sys/fs/cgroup/cpu.stat': 'throttled_usec 1000\n',
        [frequency]: '3000000\n',
      },
      {
        '/proc/stat': procStat({ user: 400, steal: 15 }),
        '/sys/fs/cgroup/cpu.stat': 'throttled_usec 4000\n',
        [frequency]: '2400000\n',
      },
    );
    assert.ok(conditions !== undefined);
    const { othersMs = NaN, ...rest } = conditions;
    const expected = { wallMs: 2000, cores: 2, stealMs: 50, throttledMs: 3, lowestMhz: 2400, highestMhz: 3000 };
    assert.deepEqual(rest, expected);
    // 3 s of all processes, less the time that this process took meanwhile.
    assert.ok(othersMs > 2000 && othersMs <= 3000);
  });

  test('does not count the time of this process before the watch', (t) => {
    const used = [
      { user: 5e6, system: 1e6 },
      { user: 5.5e6, system: 1.5e6 },
    ];
    t.mock.method(process, 'cpuUsage', () => used.shift());
    const conditions = watched({ '/proc/stat': procStat({ user: 100 }) }, { '/proc/stat': procStat({ user: 400 }) });
    assert.equal(conditions?.othersMs, 2000);
  });

  test('gives no time of others where this process took more than the machine counts, and no negative steal', (t) => {
    const used = [0, 5e6].map((user) => ({ user, system: 0 }));
    t.mock.method(process, 'cpuUsage', () => used.shift());
    const conditions = watched(
      { '/proc/stat': procStat({ user: 100, steal: 9 }) },
      { '/proc/stat': procStat({ user: 101, steal: 7 }) },
    );
    assert.deepEqual([conditions?.othersMs, conditions?.stealMs], [0, 0]);
  });

  test('leaves out values that the machine does not provide', () => {
    assert.equal(watched({}, {}), undefined);
    const files = { '/proc/stat': procStat(), [frequency]: '0\n' };
    const conditions = watched(files, files);
    assert.deepEqual(conditions, { wallMs: 2000, cores: 2, stealMs: 0, othersMs: 0 });
  });
});
