import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertRefused } from '../../../rpc/support/refusal.js';
import { adviseOn } from '../../../../plugins/dlbricks/advise/advise.js';
import { DEFAULT_LIMITS } from '../../../../src/manifest/evaluation.js';
import { openMemoryStore } from '../../../../src/store/memory/open.js';
import { createFakeAgent } from '../../../support/fake-agent.js';
import { loadedChain } from '../support/chain-model.js';

async function advise(interruptAt: string) {
  const interrupt = new AbortController();
  const agent = createFakeAgent({
    latencyOf: () => 1,
    optimizedOf: (benchmark) => ({ benchmark, values: new Map(), costMs: 1 }),
  });
  const protocol = { warmupRuns: 1, runs: 5, minRuns: 5, timeBudgetMs: 1000 };
  const settings = { protocol, limits: DEFAULT_LIMITS, threads: 1, rounds: 3, verify: false };
  const advice = await adviseOn(loadedChain('net', 'Relu', 'Tanh'), settings, {
    ...{ agent, store: await openMemoryStore(), signal: interrupt.signal },
    onEvent: (event) => {
      if (event.kind === 'measuring' && event.label.endsWith(interruptAt)) interrupt.abort();
    },
  });
  return advice.model;
}

test('advice has the time of the whole model, and there is none where an interruption came before it', async () => {
  assert.equal((await advise('never')).measured_ms, 1);
  await assertRefused(
    advise('net, whole'),
    'cancelled',
    /^net: interrupted before the whole model was measured; its kernels are kept/,
  );
});
