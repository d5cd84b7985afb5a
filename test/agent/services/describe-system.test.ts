import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  describeSystem,
  type MachineDescription,
  processorFeaturesIn,
  processorNameOf,
  readMachine,
} from '../../../src/agent/services/describe-system.js';
import { systemSchema } from '../../../src/measurement/system.js';
import { runOptions } from '../support/tiny-benchmarks.js';

const X64 =
  'processor\t: 0\nmodel name\t: Some CPU\nflags\t\t: fpu vme avx2 sse4_1 avx avx512f fma aes\n\nprocessor\t: 1\n';
const ARM64 = 'processor\t: 0\nFeatures\t: fp asimd aes asimddp sve\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\n';

const machine: MachineDescription = {
  processor: 'Some CPU',
  architecture: 'x64',
  operatingSystem: 'Linux 6.1',
  cores: 4,
  memoryBytes: 8e9,
  cacheBytes: 32e6,
  processorFeatures: ['avx2'],
};
const framework = { name: 'onnxruntime', version: '1.30.0' };

describe('system', () => {
  test('features are those that select kernels, sorted', () => {
    assert.deepEqual(processorFeaturesIn(X64), ['avx', 'avx2', 'avx512f', 'fma', 'sse4_1']);
    assert.deepEqual(processorFeaturesIn(ARM64), ['asimd', 'asimddp', 'sve']);
  });

  test('a machine that lists no features has none', () => {
    assert.deepEqual(processorFeaturesIn(''), []);
  });

  test('a processor without a name is named by its numbers', () => {
    assert.equal(processorNameOf('unknown', ARM64), 'implementer 0x41 part 0xd40');
  });

  test('a processor is named without the blanks that firmware pads with', () => {
    assert.equal(processorNameOf('  Some   CPU @ 2.00GHz ', X64), 'Some CPU @ 2.00GHz');
  });

  test('the system of this machine is valid', () => {
    const system = describeSystem(readMachine(), framework, runOptions);
    assert.deepEqual(systemSchema.parse(system), system);
  });

  const others: readonly [string, string][] = [
    ['threads', describeSystem(machine, framework, { ...runOptions, threads: 2 }).fingerprint],
    ['processor', describeSystem({ ...machine, processor: 'Other' }, framework, runOptions).fingerprint],
    ['framework version', describeSystem(machine, { ...framework, version: '1.31.0' }, runOptions).fingerprint],
  ];
  for (const [what, fingerprint] of others) {
    test(`another ${what} is another system`, () => {
      assert.notEqual(fingerprint, describeSystem(machine, framework, runOptions).fingerprint);
    });
  }
});
