import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { countMemoryKills, freeBytes, memoryProblem, memoryThere } from '../../src/agent/memory-there.js';

const GIB = 2 ** 30;
const AGENT = { memoryBytes: 16 * GIB, host: 'bench-1' };

describe('the memory of a measurement', () => {
  test('is bounded by its limit, by the machine and by what is free', () => {
    const boundOf = (memoryLimitBytes: number, free?: number) => memoryThere({ memoryLimitBytes }, AGENT, free);
    assert.match(boundOf(8 * GIB).bound, /limit of a measurement/);
    assert.deepEqual(boundOf(32 * GIB), { bytes: 16 * GIB, bound: 'the memory of bench-1' });
    assert.deepEqual(boundOf(8 * GIB, GIB), { bytes: GIB, bound: 'the free memory of bench-1' });
  });

  test('does not count cached files of the control group as taken', () => {
    const files = new Map([
      ['/proc/meminfo', `MemTotal: 9 kB\nMemAvailable:    ${8 * 2 ** 20} kB\n`],
      ['/sys/fs/cgroup/memory.max', `${4 * GIB}\n`],
      ['/sys/fs/cgroup/memory.current', `${3 * GIB}\n`],
      ['/sys/fs/cgroup/memory.stat', `anon 5\nfile ${2 * GIB}\nfile_dirty 3\n`],
    ]);
    const read = (path: string) => files.get(path);
    assert.equal(freeBytes(read), 3 * GIB);
    files.set('/sys/fs/cgroup/memory.max', 'max\n');
    assert.equal(freeBytes(read), 8 * GIB);
    files.clear();
    assert.equal(freeBytes(read), undefined);
  });

  test('counts the processes that the kernel has ended for lack of it, where the kernel says so', () => {
    const texts = ['pgfault 7\noom_kill 12\nunevictable_pgs_culled 0\n', 'pgfault 7\n', undefined];
    assert.deepEqual(
      texts.map((text) => countMemoryKills(() => text)),
      [12, undefined, undefined],
    );
  });

  test('has room for the batch that a refusal names', () => {
    const there = { bytes: 8 * GIB, bound: 'the limit' };
    const needOf = (batch: number) => ({ weightBytes: GIB / 8, valueBytes: batch * 4 * 2 ** 20 });
    assert.equal(memoryProblem('a run', needOf(1024), 1024, there), undefined);
    const problem = memoryProblem('a run', needOf(4096), 4096, there) ?? '';
    assert.match(
      problem,
      /^a run needs at least 0\.13 GB of weights and 17\.18 GB of activations at batch 4096, .* 8\.59 GB; /,
    );
    const fitting = Number(/--batch (\d+) fits$/.exec(problem)?.[1]);
    // Twice the least need, and the runtime itself, fit.
    assert.equal(fitting, 512);
    assert.match(
      memoryProblem('a run', { weightBytes: 9 * GIB, valueBytes: 1 }, 8, there) ?? '',
      /use smaller dimensions/,
    );
  });
});
