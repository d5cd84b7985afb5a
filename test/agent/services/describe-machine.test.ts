import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { agentDescriptionSchema } from '../../../src/agent/agent-description.js';
import { describeAgent, processorFeaturesIn, findProcessorName } from '../../../src/agent/services/describe-machine.js';
import { FRAMEWORK_NAMES } from '../../../src/predictor/frameworks.js';

const X64 =
  'processor\t: 0\nmodel name\t: Some CPU\nflags\t\t: fpu vme avx2 sse4_1 avx avx512f fma aes\n\nprocessor\t: 1\n';
const ARM64 = 'processor\t: 0\nFeatures\t: fp asimd aes asimddp sve\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\n';

describe('the description of this machine', () => {
  test('features are those that select kernels, sorted', () => {
    assert.deepEqual(processorFeaturesIn(X64), ['avx', 'avx2', 'avx512f', 'fma', 'sse4_1']);
    assert.deepEqual(processorFeaturesIn(ARM64), ['asimd', 'asimddp', 'sve']);
  });

  test('a machine that lists no features has none', () => {
    assert.deepEqual(processorFeaturesIn(''), []);
  });

  test('a processor without a name is named by its numbers', () => {
    assert.equal(findProcessorName('unknown', ARM64), 'implementer 0x41 part 0xd40');
  });

  test('a processor is named without the blanks that firmware pads with', () => {
    assert.equal(findProcessorName('  Some   CPU @ 2.00GHz ', X64), 'Some CPU @ 2.00GHz');
  });

  for (const framework of FRAMEWORK_NAMES) {
    test(`is valid with ${framework}`, () => {
      const description = describeAgent(framework);
      assert.deepEqual(agentDescriptionSchema.parse(description), description);
      assert.equal(description.framework, framework);
    });
  }
});
