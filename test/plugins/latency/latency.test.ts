import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import latency from '../../../plugins/latency/index.js';
import { createFakeAgent, type FakeAgent } from '../../../src/agent/fake-agent.js';
import type { EvaluationEvent } from '../../../src/evaluation/event.js';
import { loadSubmission } from '../../../src/evaluation/submission.js';
import { openMemoryStore } from '../../../src/store/memory/open.js';
import type { ResultStore } from '../../../src/store/result-store.js';
import { submission } from '../../server/fake-platform.js';

const { evaluation } = latency;

/** The plugin's events for one model with four layers. */
async function run(agent: FakeAgent, store: ResultStore, settings?: object): Promise<readonly EvaluationEvent[]> {
  assert.ok(evaluation !== undefined);
  const submitted = submission({ plugin: 'latency', ...(settings === undefined ? {} : { settings }) });
  const { loaded } = await loadSubmission(submitted);
  const request = { evaluation: loaded, settings: loaded.settingsOf(evaluation.settings) };
  const { signal } = new AbortController();
  const events: EvaluationEvent[] = [];
  for await (const event of evaluation.run(request, { agent, store, signal })) events.push(event);
  return events;
}

const agentOf = (latencyOf: Parameters<typeof createFakeAgent>[0]['latencyOf']) => createFakeAgent({ latencyOf });

describe('the latency plugin', () => {
  it('times whole models, at the percentiles that are asked for', async () => {
    const events = await run(
      agentOf(() => 2),
      await openMemoryStore(),
      { percentiles: [50, 75] },
    );
    assert.deepEqual(events, [
      { kind: 'planned', summary: 'whole models: 1', known: 0, toMeasure: 1 },
      { kind: 'measuring', done: 0, total: 1, label: 'four' },
      { kind: 'estimate', model: 'four', latencyMs: 2, coverage: 1 },
      {
        kind: 'done',
        result: { models: [{ model: 'four', runs: 3, latency_ms: { p50: 2, p75: 2 } }] },
        partial: false,
      },
    ]);
  });

  it('measures nothing that the store has', async () => {
    const [agent, store] = [agentOf(() => 2), await openMemoryStore()];
    const first = await run(agent, store);
    const second = await run(agent, store);
    assert.equal(agent.measured.length, 1);
    assert.deepEqual(second.at(-1), first.at(-1));
  });

  it('says why a model has no latency, and goes on', async () => {
    const agent = agentOf(() => ({ reason: 'out_of_memory', message: 'too much' }));
    const last = (await run(agent, await openMemoryStore())).at(-1);
    const models = [{ model: 'four', reason: 'out_of_memory: too much' }];
    assert.deepEqual(last, { kind: 'done', result: { models }, partial: true });
  });

  it('refuses invalid percentiles, with their place', async () => {
    const refused = run(
      agentOf(() => 2),
      await openMemoryStore(),
      { percentiles: [101] },
    );
    await assert.rejects(refused, /^PlatformError: tiny\.yml:1:\d+: settings\.percentiles\[0\]: expected/);
  });
});
