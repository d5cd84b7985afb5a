import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemDifferences } from '../../src/measurement/system-differences.js';
import { buildRunOptions, type System } from '../../src/measurement/system.js';
import { sampleSystem, SYSTEM } from '../store/sample-measurement.js';

/** What is said of each of the two. */
function between(one: System, other: System, ...options: Parameters<typeof systemDifferences>[1][]): readonly string[] {
  return [one, other].map(systemDifferences([one, other], ...options));
}

const runOptions = buildRunOptions(1);

test('systems are told apart by each fact in which they differ, in words', () => {
  const device = { kind: 'gpu', name: 'NVIDIA H100', memoryBytes: 0 };
  for (const [changes, ...texts] of [
    [{ processor: 'Other CPU' }, 'Test CPU @ 3.00GHz', 'Other CPU'],
    [{ cores: 1 }, '2 cores', '1 core'],
    [{ devices: [device, { ...device, name: 'NVIDIA L4' }] }, 'no device', 'NVIDIA H100 and NVIDIA L4'],
    [{ frameworkVersion: '1.20.0' }, 'onnxruntime 1.30.0', 'onnxruntime 1.20.0'],
    [{ operatingSystem: 'Darwin' }, 'Linux 6.1', 'Darwin'],
    [{ runOptions: { ...runOptions, threads: 2 } }, '1 thread', '2 threads'],
    [{ runOptions: { ...runOptions, executionProvider: 'cuda' } }, 'on the processor', 'on cuda'],
    [{ runOptions: { ...runOptions, optimizationLevel: 'disabled' } }, 'optimizer all', 'optimizer off'],
    [
      { runOptions: { ...runOptions, executionMode: 'parallel', interOpThreads: 2 } },
      'kernels one after another',
      '2 kernels at a time',
    ],
    [{ runOptions: { ...runOptions, session: ['a=1', 'b=0'] } }, 'no session keys', 'a=1 b=0'],
    [{ architecture: 'arm64' }, 'x64', 'arm64'],
    [{ cacheBytes: 1024 }, 'cache 32768 KiB', 'cache 1 KiB'],
    [{ processorFeatures: ['avx2', 'amx'] }, 'with avx512f', 'with amx'],
    [{ processorFeatures: ['avx2'] }, 'with avx512f', 'without avx512f'],
    // Nothing depends on the memory.
    [{ memoryBytes: 1 }, '', ''],
  ] satisfies [Parameters<typeof sampleSystem>[0], string, string][]) {
    assert.deepEqual(between(SYSTEM, sampleSystem(changes)), texts);
  }
});

test('the differences of systems do not repeat what is shown anyway; the most important come first', () => {
  const other = sampleSystem({ cores: 1, processor: 'Other CPU', architecture: 'arm64' });
  assert.deepEqual(between(SYSTEM, other, ['architecture']), ['Test CPU @ 3.00GHz, 2 cores', 'Other CPU, 1 core']);
});
