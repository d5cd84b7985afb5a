import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { collect } from '../../../src/base/collect.js';
import type { BenchmarkAgent } from '../../../src/agent/benchmark-agent.js';
import { createFakeAgent } from '../../support/fake-agent.js';
import { PlatformError } from '../../../src/base/errors.js';
import type { Evaluation } from '../../../src/evaluation/evaluation.js';
import type { PluginEvent } from '../../../src/evaluation/event.js';
import { runEvaluation } from '../../../src/evaluation/run/run-evaluation.js';
import { type SystemsResult, systemsResultIn } from '../../../src/evaluation/systems-result.js';
import type { AgentDescription } from '../../../src/agent/agent-description.js';
import { openMemoryStore } from '../../../src/store/memory/open.js';
import { requestsFor } from '../../agent/spread/requests.js';
import { submission } from '../../server/fake-platform.js';
import { scripted, untilStopped } from '../../server/scripted-evaluation.js';

const MODELS = 8;

/** Measures some models; their mean latency is the estimate for the evaluation's model. */
const measuring = scripted(async function* (_request, { agent, signal }) {
  const requests = requestsFor(MODELS);
  yield { kind: 'planned', summary: 'some models', known: 0, toMeasure: MODELS };
  const ms: number[] = [];
  for await (const { measurement } of agent.measure(requests, { signal })) {
    if (measurement.outcome.kind === 'samples') ms.push(measurement.outcome.runMs[0] ?? NaN);
    yield { kind: 'measuring', done: ms.length, total: MODELS, label: 'a model' };
  }
  const latencyMs = ms.reduce((sum, one) => sum + one, 0) / MODELS;
  yield { kind: 'note', level: 'info', message: 'measured' };
  const percentiles = [
    { percentage: 50, latencyMs: latencyMs + 0.5 },
    { percentage: 99, reason: 'too few runs' },
  ];
  const interval = { lowMs: latencyMs - 1, highMs: latencyMs + 1 };
  yield { kind: 'estimate', model: 'four', latencyMs, ...interval, coverage: 1, percentiles };
  yield { kind: 'done', result: { latencyMs }, partial: false };
});

/** In place of an agent that does not answer. */
const dead = new PlatformError('unavailable', 'nobody answers');

/** A machine that breaks while it measures. */
function breaking(processor: string): BenchmarkAgent {
  return {
    ...createFakeAgent({ latencyOf: () => 1, processor }),
    async *measure() {
      yield* [];
      await Promise.reject(new PlatformError('unavailable', 'the plug is out'));
    },
  };
}

const machine = (processor: string, ms: number) => createFakeAgent({ latencyOf: () => ms, processor });

interface Options {
  readonly manifest?: object;
  readonly evaluation?: Evaluation;
  readonly signal?: AbortSignal;
}

/** The events of an evaluation on these agents, whose addresses are their names. */
async function eventsOn(
  agents: Readonly<Record<string, BenchmarkAgent | PlatformError>>,
  { manifest = {}, evaluation = measuring, signal = new AbortController().signal }: Options,
): Promise<readonly PluginEvent[]> {
  const run = {
    evaluationId: 'evaluation-1',
    attempt: 1,
    submission: submission({ ...manifest }),
    agents: Object.keys(agents).map((address) => ({ address, tls: false, token: '' })),
    traceContext: {},
  };
  const connect = ({ address }: { readonly address: string }): Promise<BenchmarkAgent> => {
    const agent = agents[address];
    assert.ok(agent !== undefined, address);
    return agent instanceof PlatformError ? Promise.reject(agent) : Promise.resolve(agent);
  };
  const events: PluginEvent[] = [];
  const store = await openMemoryStore();
  for await (const event of runEvaluation(evaluation, run, { store, connect }, signal)) events.push(event);
  return events;
}

function resultIn(events: readonly PluginEvent[]): { readonly result: unknown; readonly partial: boolean } {
  const last = events.at(-1);
  assert.ok(last?.kind === 'done', JSON.stringify(last));
  return { result: JSON.parse(last.resultJson), partial: last.partial };
}

function systemsIn(events: readonly PluginEvent[]): SystemsResult {
  const systems = systemsResultIn(resultIn(events).result);
  assert.ok(systems !== undefined);
  return systems;
}

const notesIn = (events: readonly PluginEvent[]): readonly string[] =>
  events.flatMap((event) => (event.kind === 'note' ? [event.message] : []));

describe('an evaluation on each system', () => {
  const each = { manifest: { agents: 'one', placement: 'each' } };

  it('has a result for each system with its percentiles, from one command', async () => {
    const events = await eventsOn(
      { 'a:1': machine('fast', 1), 'b:1': machine('slow', 3), 'a:2': machine('fast', 9) },
      each,
    );
    const { models, systems } = systemsIn(events);
    assert.deepEqual(models, ['four']);
    assert.deepEqual(
      systems.map(({ name, agents, estimates, failure, result }) => ({ name, agents, estimates, failure, result })),
      [
        ['fast', 'a:1', 1],
        ['slow', 'b:1', 3],
      ].map(([name, agent, ms]) => ({
        name,
        agents: [agent],
        estimates: [
          {
            model: 'four',
            latency_ms: ms,
            low_ms: Number(ms) - 1,
            high_ms: Number(ms) + 1,
            coverage: 1,
            percentiles: [
              { percentage: 50, latency_ms: Number(ms) + 0.5, reason: null },
              { percentage: 99, latency_ms: null, reason: 'too few runs' },
            ],
          },
        ],
        failure: null,
        result: { latencyMs: ms },
      })),
    );
    assert.equal(resultIn(events).partial, false);
  });

  it('combines the progress of all systems, and names the system of each note', async () => {
    const events = await eventsOn({ 'a:1': machine('fast', 1), 'b:1': machine('slow', 3) }, each);
    const measured = events.flatMap((event) => (event.kind === 'measuring' ? [event] : []));
    assert.deepEqual([measured.at(-1)?.done, measured.at(-1)?.total], [2 * MODELS, 2 * MODELS]);
    const counts = measured.map(({ done }) => done);
    assert.deepEqual(
      counts,
      counts.toSorted((a, b) => a - b),
    );
    assert.deepEqual(notesIn(events).toSorted(), [
      '1 agent with fast and fake 1.0.0: a:1',
      '1 agent with slow and fake 1.0.0: b:1',
      'fast: measured',
      'slow: measured',
    ]);
    const estimated = events.flatMap((event) => (event.kind === 'estimate' ? [[event.system, event.latencyMs]] : []));
    assert.deepEqual(estimated.toSorted(), [
      ['fast', 1],
      ['slow', 3],
    ]);
  });

  it('shares the work on each system among its agents, where all agents are asked for', async () => {
    const agents = { 'a:1': machine('fast', 1), 'b:1': machine('slow', 3), 'a:2': machine('fast', 1) };
    const events = await eventsOn(agents, { manifest: { agents: 'all', placement: 'each' } });
    assert.deepEqual(
      systemsIn(events).systems.map((system) => system.agents),
      [['a:1', 'a:2'], ['b:1']],
    );
    for (const { measured } of Object.values(agents)) assert.ok(measured.length > 1);
    assert.ok(notesIn(events).some((note) => /^fast: 2 machines differ by 0\.0 %/.test(note)));
  });

  it('keeps the results of the others where a system fails, and says why it fails', async () => {
    const events = await eventsOn({ 'a:1': machine('fast', 1), 'b:1': breaking('broken'), 'c:1': dead }, each);
    const { systems } = systemsIn(events);
    assert.deepEqual(
      systems.map(({ name, failure }) => [name, failure]),
      [
        ['broken', { code: 'unavailable', message: 'the plug is out' }],
        ['fast', null],
      ],
    );
    assert.equal(resultIn(events).partial, true);
    assert.ok(notesIn(events).includes('broken: the plug is out'));
    assert.ok(notesIn(events).includes('the agent at c:1 is left out: nobody answers'));
  });

  it('fails where all systems fail, with the reason of each', async () => {
    const events = await eventsOn({ 'a:1': breaking('one'), 'b:1': breaking('two') }, each);
    const message = 'one: the plug is out\ntwo: the plug is out';
    assert.deepEqual(events.at(-1), { kind: 'failed', code: 'unavailable', message });
    assert.deepEqual((await eventsOn({ 'c:1': dead }, each)).at(-1), {
      kind: 'failed',
      code: 'unavailable',
      message: 'nobody answers',
    });
  });

  it('is cancelled on all systems', async () => {
    const controller = new AbortController();
    let working = 0;
    const patient = scripted(async function* (_request, context) {
      yield { kind: 'note', level: 'info', message: 'at work' };
      working++;
      if (working === 2) controller.abort();
      await untilStopped(context);
      working--;
    });
    const agents = { 'a:1': machine('fast', 1), 'b:1': machine('slow', 3) };
    const events = await eventsOn(agents, { ...each, evaluation: patient, signal: controller.signal });
    assert.deepEqual(events.at(-1), { kind: 'cancelled' });
    assert.equal(working, 0);
  });
});

describe('an evaluation that identical machines share', () => {
  const fast = () => ({ 'a:1': machine('fast', 1), 'a:2': machine('fast', 1), 'a:3': machine('fast', 1) });

  it('has the result of one system, the system with most agents', async () => {
    const agents = { 'b:1': machine('slow', 3), ...fast() };
    const events = await eventsOn(agents, { manifest: { agents: 'all' } });
    assert.deepEqual(resultIn(events), { result: { latencyMs: 1 }, partial: false });
    assert.equal(agents['b:1'].measured.length, 0);
    assert.equal(notesIn(events)[0], '3 agents with fast and fake 1.0.0: a:1, a:2, a:3');
  });

  it('takes as many agents as asked for, and says where there are fewer', async () => {
    const agents = fast();
    await eventsOn(agents, { manifest: { agents: 2 } });
    assert.equal(agents['a:3'].measured.length, 0);
    assert.ok(agents['a:2'].measured.length > 0);
    const [note] = notesIn(await eventsOn(fast(), { manifest: { agents: 5 } }));
    assert.equal(note, '3 agents (of 5 that were asked for) with fast and fake 1.0.0: a:1, a:2, a:3');
  });

  it('has a complete result where one of the machines breaks', async () => {
    const events = await eventsOn({ ...fast(), 'a:4': breaking('fast') }, { manifest: { agents: 'all' } });
    assert.deepEqual(resultIn(events), { result: { latencyMs: 1 }, partial: false });
    assert.ok(notesIn(events).includes('the agent at a:4 is left out, the others do its work: the plug is out'));
  });

  it('goes on with another agent of its system where its only one breaks or does not answer', async () => {
    const gone = new PlatformError('unavailable', 'the agent at x:1 does not answer');
    const agents = { 'x:1': gone, 'a:1': breaking('fast'), 'b:1': machine('slow', 3), 'a:2': fast()['a:2'] };
    const events = await eventsOn(agents, {});
    assert.deepEqual(resultIn(events), { result: { latencyMs: 1 }, partial: false });
    assert.equal(agents['b:1'].measured.length, 0);
    assert.ok(
      notesIn(events).includes('the agent at a:2 does the rest of the work of the agent at a:1: the plug is out'),
      notesIn(events).join('\n'),
    );
  });

  it('runs on one machine where the submission asks for one, also where the manifest asks for all', async () => {
    const agents = fast();
    const asked = { ...submission({ agents: 'all' }), agents: { most: 1, placement: 'spread' } as const };
    const run = {
      evaluationId: 'evaluation-1',
      attempt: 1,
      submission: asked,
      agents: Object.keys(agents).map((address) => ({ address, tls: false, token: '' })),
      traceContext: {},
    };
    const connect = (): Promise<BenchmarkAgent> => Promise.resolve(agents['a:1']);
    const tools = { store: await openMemoryStore(), connect };
    const events = await collect(runEvaluation(measuring, run, tools, new AbortController().signal));
    assert.deepEqual(notesIn(events), ['measured']);
    assert.equal(agents['a:1'].measured.length, MODELS);
  });
});

describe('systems that look alike', () => {
  it('are named by the property in which they differ', async () => {
    const cores = { ...machine('fast', 1) };
    const more = describedWith(machine('fast', 1), { cores: 64 });
    const events = await eventsOn({ 'a:1': cores, 'b:1': more }, { manifest: { placement: 'each' } });
    assert.deepEqual(
      systemsIn(events).systems.map(({ name }) => name),
      ['4 cores', '64 cores'],
    );
  });

  it('are named by the features of their processors where they differ in nothing else', async () => {
    const [one, other] = ['avx2', 'avx512f'].map((feature) => {
      return describedWith(machine('fast', 1), { processorFeatures: [feature] });
    }) as [BenchmarkAgent, BenchmarkAgent];
    const events = await eventsOn({ 'a:1': one, 'b:1': other }, { manifest: { placement: 'each' } });
    assert.deepEqual(
      systemsIn(events).systems.map(({ name }) => name),
      ['with avx2', 'with avx512f'],
    );
  });
});

function describedWith(agent: BenchmarkAgent, changes: Partial<AgentDescription>): BenchmarkAgent {
  return { ...agent, description: { ...agent.description, ...changes } };
}
