import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AS_TODAY, settingsFor, prepareVariants } from '../../../../plugins/dlbricks/advise/variants.js';
import { createFakeAgent } from '../../../support/fake-agent.js';
import { PlatformError } from '../../../../src/base/errors.js';
import { loadedChain } from '../support/chain-model.js';

function agentThatRefuses(level: string) {
  return createFakeAgent({
    latencyOf: () => 1,
    optimizedOf: (benchmark, { optimizationLevel }) => {
      if (optimizationLevel === level) throw new PlatformError('model', `no kernel at ${level}`);
      return { benchmark, values: new Map(), costMs: 1 };
    },
  });
}

const { signal } = new AbortController();

test('a setting that the runtime refuses for a model is named with its reason, and the others are tried', async () => {
  const model = loadedChain('net', 'Relu', 'Tanh');
  const { variants, refused } = await prepareVariants(model, settingsFor(1), 1, agentThatRefuses('basic'), signal);
  assert.deepEqual(
    refused.map(({ setting, reason }) => [setting.name, reason]),
    [['--optimization-level basic', 'no kernel at basic']],
  );
  assert.equal(variants.length, settingsFor(1).length - 1);
  assert.deepEqual(
    variants.map(({ isSameGraph }) => isSameGraph),
    [false, true, true, true],
  );
});

test('a model that the runtime refuses as it runs today has no advice', async () => {
  const level = AS_TODAY.runtime.optimization_level;
  const asked = prepareVariants(loadedChain('net', 'Relu'), settingsFor(1), 1, agentThatRefuses(level), signal);
  await assert.rejects(asked, { code: 'model', message: /no kernel at all/ });
});
