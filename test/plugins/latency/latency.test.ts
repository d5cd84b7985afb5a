import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { collect } from '../../../src/base/collect.js';
import latency from '../../../plugins/latency/index.js';
import { latencyResultSchema } from '../../../plugins/latency/latency-result.js';
import { createFakeAgent, type FakeAgent } from '../../support/fake-agent.js';
import type { EvaluationEvent } from '../../../src/evaluation/event.js';
import { loadSubmission } from '../../../src/evaluation/submission.js';
import type { Measurement } from '../../../src/measurement/measurement.js';
import { openMemoryStore } from '../../../src/store/memory/open.js';
import type { ResultStore } from '../../../src/store/result-store.js';
import { submission } from '../../server/fake-platform.js';
import { conditionsBeside } from '../../store/measured-beside.js';

const { evaluation } = latency;

/** The plugin's events for one model with four layers. */
async function run(agent: FakeAgent, store: ResultStore, settings?: object): Promise<readonly EvaluationEvent[]> {
  assert.ok(evaluation !== undefined);
  const submitted = submission({ plugin: 'latency', ...(settings === undefined ? {} : { settings }) });
  const { loaded } = await loadSubmission(submitted);
  const request = { evaluation: loaded, settings: loaded.settingsOf(evaluation.settings) };
  const { signal } = new AbortController();
  return collect(evaluation.run(request, { agent, store, signal }));
}

const agentOf = (latencyOf: Parameters<typeof createFakeAgent>[0]['latencyOf']) => createFakeAgent({ latencyOf });

function warningsIn(events: readonly EvaluationEvent[]): readonly string[] {
  const last = events.at(-1);
  assert.ok(last?.kind === 'done');
  return latencyResultSchema.parse(last.result).warnings;
}

/** The measurement that an agent takes of the model. */
async function measuredBy(agent: FakeAgent): Promise<Measurement> {
  const store = await openMemoryStore();
  await run(agent, store);
  for await (const measurement of store.listMeasurements()) return measurement;
  assert.fail('nothing was stored');
}

describe('the latency plugin', () => {
  it('times whole models, with the requested percentiles', async () => {
    const events = await run(
      agentOf(() => 2),
      await openMemoryStore(),
      { percentiles: [50, 75] },
    );
    const [planned, measuring, estimate, done] = events;
    assert.deepEqual(planned, {
      kind: 'planned',
      summary: 'whole models: 1 to time, 0 known already',
      known: 0,
      toMeasure: 1,
    });
    assert.deepEqual(measuring, { kind: 'measuring', done: 0, total: 1, label: 'four, batch 1, 1 thread' });
    const reason = 'p75 needs 4 runs, and there are 3; --runs 4 (protocol.runs in manifests) asks for them';
    assert.deepEqual(estimate, {
      ...{ kind: 'estimate', model: 'four', latencyMs: 2, coverage: 1 },
      percentiles: [
        { percentage: 50, latencyMs: 2 },
        { percentage: 75, reason },
      ],
    });
    assert.ok(done?.kind === 'done' && !done.partial);
    const { models, percentiles } = latencyResultSchema.parse(done.result);
    assert.deepEqual(percentiles, [50, 75]);
    const [row] = models;
    assert.ok(row !== undefined && !('reason' in row));
    assert.deepEqual([row.model, row.batch, row.threads, row.runs], ['four', 1, 1, 3]);
    assert.deepEqual(row.latency_ms, { p50: 2, p75: null });
    assert.equal(row.not_shown['p75'], reason);
  });

  it('measures nothing that the store has', async () => {
    const agent = agentOf(() => 2);
    const store = await openMemoryStore();
    const first = await run(agent, store);
    const second = await run(agent, store);
    assert.equal(agent.measured.length, 1);
    const [now, later] = [first, second].map((events) => {
      const done = events.at(-1);
      assert.ok(done?.kind === 'done');
      const [row] = latencyResultSchema.parse(done.result).models;
      assert.ok(row !== undefined && !('reason' in row));
      return row;
    });
    assert.deepEqual(later, { ...now, is_stored: true });
    assert.equal(now?.is_stored, false);
  });

  it('says why a model has no latency, and does not try again what the runtime refused', async () => {
    const agent = agentOf(() => ({ reason: 'unsupported', message: 'no such operator' }));
    const store = await openMemoryStore();
    for (let i = 0; i < 2; i++) {
      const last = (await run(agent, store)).at(-1);
      assert.ok(last?.kind === 'done' && last.partial);
      const where = { model: 'four', batch: 1, dimensions: '', threads: 1, settings: '' };
      const models = [{ ...where, reason: 'unsupported: no such operator' }];
      assert.deepEqual(latencyResultSchema.parse(last.result).models, models);
    }
    assert.equal(agent.measured.length, 1);
  });

  it('has a row with the reason for a model that could not be read', async () => {
    assert.ok(evaluation !== undefined);
    const unusable = [{ name: 'bad', reason: 'bad.onnx: no model' }];
    const { files, ...rest } = submission({ plugin: 'latency', models: ['bad.onnx', 'four.onnx'] });
    const { loaded } = await loadSubmission({ ...rest, files: new Map([...files, ['bad.onnx', undefined]]), unusable });
    const request = { evaluation: loaded, settings: loaded.settingsOf(evaluation.settings) };
    const agent = agentOf(() => 2);
    const store = await openMemoryStore();
    const events: EvaluationEvent[] = [];
    for await (const event of evaluation.run(request, { agent, store, signal: new AbortController().signal })) {
      events.push(event);
    }
    const last = events.at(-1);
    assert.ok(last?.kind === 'done' && last.partial);
    const [four, bad] = latencyResultSchema.parse(last.result).models;
    assert.equal(four?.model, 'four');
    assert.deepEqual(bad, {
      model: 'bad',
      batch: 1,
      dimensions: '',
      threads: 1,
      settings: '',
      reason: 'bad.onnx: no model',
    });
  });

  it('has the disturbance of a measurement, and null where the agent does not tell', async () => {
    const disturbanceBy = async (agent: FakeAgent): Promise<unknown> => {
      const last = (await run(agent, await openMemoryStore())).at(-1);
      assert.ok(last?.kind === 'done');
      const [row] = latencyResultSchema.parse(last.result).models;
      assert.ok(row !== undefined && !('reason' in row));
      return row.disturbance_percent;
    };
    assert.equal(await disturbanceBy(agentOf(() => 2)), null);
    assert.equal(
      await disturbanceBy(createFakeAgent({ latencyOf: () => 2, conditionsOf: () => conditionsBeside(0) })),
      0,
    );
  });

  it('retakes measurements that other processes disturbed, and says why', async () => {
    const loads = [900, 0];
    const agent = createFakeAgent({ latencyOf: () => 2, conditionsOf: () => conditionsBeside(loads.shift() ?? 0) });
    const events = await run(agent, await openMemoryStore());
    assert.equal(agent.measured.length, 2);
    const notes = events.flatMap((event) => (event.kind === 'note' ? [event.message] : []));
    assert.deepEqual(notes, [
      "taking 1 measurement again: other processes took 45 % of the processors' time meanwhile",
    ]);
    assert.deepEqual(warningsIn(events), []);
  });

  it('retakes disturbed measurements in a later evaluation, keeps the better ones, and warns until then', async () => {
    const store = await openMemoryStore();
    const systemBusyFor = (othersMs: number) =>
      createFakeAgent({ latencyOf: () => 2, conditionsOf: () => conditionsBeside(othersMs) });
    await store.putMeasurement({ ...(await measuredBy(agentOf(() => 2))), conditions: conditionsBeside(900) });
    const still = await run(systemBusyFor(900), store);
    assert.match(warningsIn(still).join(), /^1 of 1 measurement was disturbed .* 45\.0 % .*--remeasure disturbed/);
    assert.deepEqual(warningsIn(await run(systemBusyFor(0), store)), []);
  });

  it('refuses invalid percentiles, with their place', async () => {
    const refused = run(
      agentOf(() => 2),
      await openMemoryStore(),
      { percentiles: [101] },
    );
    await assert.rejects(refused, /^PlatformError: tiny\.yml:1:\d+: settings\.percentiles\[0\]: expected/);
  });

  it('shows its result document, but not one of another version', async () => {
    const last = (
      await run(
        agentOf(() => 2),
        await openMemoryStore(),
      )
    ).at(-1);
    assert.ok(last?.kind === 'done');
    const shown = evaluation?.show?.(last.result, { wide: false });
    const text = shown?.text({ color: false, width: undefined }) ?? '';
    assert.match(text, /│ model │ batch │ threads │ runs │ p50 \(ms\) │ p90 \(ms\) │ p95 \(ms\) │/);
    assert.match(text, /│ four +│ +1 │ +1 │ +3 │ +2\.000 │ +- │ +- │/);
    assert.match(text, /^p95 needs 20 runs, and there are 3; --runs 20 /m);
    const records = shown?.result().records;
    assert.deepEqual(records?.keys.slice(0, 5), ['model', 'batch', 'threads', 'system', 'runs']);
    assert.deepEqual(
      records?.rows.map((row) => row.length),
      [records.keys.length],
    );
    assert.equal(evaluation?.show?.({ models: [{ model: 'four', runs: 3 }] }, { wide: false }), undefined);
  });
});
