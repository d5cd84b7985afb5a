import assert from 'node:assert/strict';
import { test } from 'node:test';
import { collect } from '../../../src/base/collect.js';
import { buildMeasured } from '../../../plugins/load/figures.js';
import { keepTrial } from '../../../plugins/load/platform-documents.js';
import { settingsSchema } from '../../../plugins/load/settings.js';
import { computeOfferedRate, serverTrial } from '../../../plugins/load/trials.js';
import { createFakeAgent } from '../../support/fake-agent.js';
import { simulateTrial } from '../../../src/load/simulate.js';
import { summarizeTrial } from '../../../src/load/summary.js';
import { EVALUATION_DOCUMENTS, PERFORMANCE_DOCUMENTS } from '../../../src/platform-documents/documents.js';
import { openMemoryStore } from '../../../src/store/memory/open.js';
import { SYSTEM } from '../../store/sample-measurement.js';
import { loadedChain } from '../dlbricks/support/chain-model.js';

const SERVICE = { runMs: () => 2 };

/** The documents of a trial at 100/s; `isLate`: one whose generator was late. */
async function documentsOf({ isLate }: { readonly isLate: boolean }) {
  const settings = settingsSchema.parse({ scenario: 'server', rates: [100], queries: 500 });
  const plan = serverTrial(settings, 100, 7, undefined);
  const { limit, seed } = plan.options;
  const trial = simulateTrial(plan.options, { limit, waitMs: 0 }, [SERVICE]);
  const summary = summarizeTrial(trial.records, trial, { bound: undefined, servers: 1, isOpen: true });
  const measured = buildMeasured(trial, { ...summary, invalid: isLate ? 'the generator was late' : null });
  const figures = {
    samples: [...plan.samples],
    batch_limit: limit,
    clients: null,
    offered_per_second: computeOfferedRate(plan),
    seed,
  };
  const row = { model: 'chain', ...figures, measured, predicted: null };
  const store = await openMemoryStore();
  const agent = createFakeAgent({ latencyOf: () => 1 });
  await keepTrial(loadedChain('chain', 'Relu'), row, trial.records, {
    store,
    agent,
    system: SYSTEM,
    scenario: 'server',
  });
  const [evaluations, performances] = await Promise.all([
    collect(store.collection(EVALUATION_DOCUMENTS).find({})),
    collect(store.collection(PERFORMANCE_DOCUMENTS).find({})),
  ]);
  return { evaluations, performances };
}

test('a trial is an evaluation of the platform, with its figures under load and a trace of its runs', async () => {
  const { evaluations, performances } = await documentsOf({ isLate: false });
  const [evaluation, ...others] = evaluations;
  assert.deepEqual([evaluation?.model.name, others.length, performances.length], ['chain', 0, 1]);
  const { scenario, seed, offered_per_second: offered, p99_ms: p99 } = evaluation?.metadata ?? {};
  assert.deepEqual([scenario, seed], ['server', '7']);
  assert.ok(Math.abs(Number(offered) - 100) < 15, offered);
  // In the queue, some queries take longer than the run of 2 ms.
  assert.ok(Number(p99) > 2, p99);
});

test('a trial without a result is no document', async () => {
  const { evaluations, performances } = await documentsOf({ isLate: true });
  assert.deepEqual([evaluations, performances], [[], []]);
});
