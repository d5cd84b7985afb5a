import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { Measuring } from '../../src/measuring/measuring.js';
import { KnownResults } from '../../src/measuring/known-results.js';
import { RunProgress } from '../../src/measuring/run-progress.js';
import type { Task } from '../../src/measuring/task.js';
import type { BenchmarkAgent, MeasuredRequest, RequestProgress } from '../../src/agent/benchmark-agent.js';
import { createFakeAgent, type FakeAgentOptions } from '../../src/agent/fake-agent.js';
import type { EvaluationEvent } from '../../src/evaluation/event.js';
import { openMemoryStore } from '../../src/store/memory/open.js';
import { sampleMeasurement } from '../store/sample-measurement.js';
import { sampleTasks } from './sample-tasks.js';

const TASKS = sampleTasks('model: Relu', 'model: Neg', 'model: Abs');

async function measuringWith(agent: BenchmarkAgent, signal = new AbortController().signal) {
  const events: EvaluationEvent[] = [];
  const onEvent = (event: EvaluationEvent): void => void events.push(event);
  const results = new KnownResults();
  const progress = new RunProgress();
  const measuring = new Measuring({ agent, store: await openMemoryStore(), signal, onEvent }, results, progress);
  return { measuring, events, results, progress };
}

function fakeAgent(latencyOf: FakeAgentOptions['latencyOf'] = () => 1): BenchmarkAgent {
  return createFakeAgent({ latencyOf });
}

/** An agent that reports this progress before its only measurement. */
function reporting(onMeasure: (report: (progress: Partial<RequestProgress>) => void) => void): BenchmarkAgent {
  return {
    ...fakeAgent(),
    async *measure(_requests, { onProgress } = {}): AsyncGenerator<MeasuredRequest> {
      onMeasure((progress) =>
        onProgress?.({ phase: 'running', runsDone: 0, runsTotal: 9, index: 0, together: 1, ...progress }),
      );
      yield await Promise.resolve({ index: 0, measurement: sampleMeasurement(0) });
    },
  };
}

/** A clock in place of the process's own, at `time.nowMs`. */
function withClock(t: TestContext): { nowMs: number } {
  const time = { nowMs: 10_000 };
  t.mock.method(performance, 'now', () => time.nowMs);
  return time;
}

const labelsIn = (events: readonly EvaluationEvent[]): readonly string[] => {
  return events.flatMap((event) => (event.kind === 'measuring' ? [event.label] : []));
};

describe('measuring', () => {
  /** Progress events without the time left, which depends on how fast this machine is. */
  const countsIn = (events: readonly EvaluationEvent[]): readonly string[] => {
    return events.flatMap((event) => {
      return event.kind === 'measuring' ? [`${event.done}/${event.total} ${event.label}`] : [];
    });
  };

  test('says for each brick what is measured, and how many are done of how many', async () => {
    const { measuring, events, progress } = await measuringWith(fakeAgent());
    progress.add(TASKS);
    assert.equal(await measuring.measure(TASKS), 3);
    assert.deepEqual(countsIn(events), ['0/3 model: Relu', '1/3 model: Neg', '2/3 model: Abs']);
  });

  test('counts on where more turns out to be needed', async () => {
    const { measuring, events, progress } = await measuringWith(fakeAgent());
    progress.add(TASKS);
    await measuring.measure(TASKS);
    progress.add(TASKS.slice(0, 1));
    await measuring.measure(TASKS.slice(0, 1));
    assert.equal(countsIn(events).at(-1), '3/4 model: Relu');
  });

  test('warns of a brick that fails, with its name and the reason, and of no other', async () => {
    const refused = TASKS[1]?.request.benchmark.signature;
    const agent = fakeAgent(({ signature }) => {
      return signature === refused ? { reason: 'unsupported', message: 'no such operator' } : 1;
    });
    const { measuring, events, results } = await measuringWith(agent);
    assert.equal(await measuring.measure(TASKS), 3);
    assert.deepEqual(
      events.filter(({ kind }) => kind === 'note'),
      [{ kind: 'note', level: 'warning', message: 'model: Neg: unsupported: no such operator' }],
    );
    const kept = TASKS.map(({ request }: Task) => results.get(request)?.outcome.kind);
    assert.deepEqual(kept, ['samples', 'failure', 'samples']);
  });

  test('names a session of several bricks by one of them and the number of the others', async () => {
    const agent = reporting((report) => report({ together: 3 }));
    const { measuring, events } = await measuringWith(agent);
    await measuring.measure(TASKS);
    assert.deepEqual(labelsIn(events), ['model: Relu and 2 more bricks']);
  });

  test('shows the runs of one session at most twice a second', async (t) => {
    const time = withClock(t);
    const agent = reporting((report) => {
      report({ runsDone: 1 });
      time.nowMs += 499;
      report({ runsDone: 2 });
      time.nowMs += 1;
      report({ runsDone: 3 });
      time.nowMs += 499;
      report({ runsDone: 4 });
    });
    const { measuring, events } = await measuringWith(agent);
    await measuring.measure(TASKS.slice(0, 1));
    assert.deepEqual(labelsIn(events), ['model: Relu', 'model: Relu (run 3 of 9)']);
  });

  test('adds up the time that it took', async (t) => {
    const time = withClock(t);
    const { measuring } = await measuringWith(reporting(() => (time.nowMs += 30)));
    assert.equal(measuring.wallMs, 0);
    await measuring.measure(TASKS.slice(0, 1));
    await measuring.measure(TASKS.slice(0, 1));
    assert.equal(measuring.wallMs, 60);
  });

  test('says in a line of its own that it repeats what other processes disturbed, and by how much', async () => {
    const disturbed = { wallMs: 1000, cores: 2, othersMs: 900, stealMs: 0 };
    const controller = new AbortController();
    const agent: BenchmarkAgent = {
      ...fakeAgent(),
      async *measure(): AsyncGenerator<MeasuredRequest> {
        yield await Promise.resolve({ index: 0, measurement: sampleMeasurement(0, { conditions: disturbed }) });
      },
    };
    const { measuring, events } = await measuringWith(agent, controller.signal);
    const measured = measuring.measure(TASKS.slice(0, 1));
    while (events.length === 0) await new Promise(setImmediate);
    // The pause before the repetition ends with the interruption, and nothing is repeated.
    controller.abort();
    assert.equal(await measured, 1);
    const message = "taking 1 measurement again: other processes took 45 % of the processors' time meanwhile";
    assert.deepEqual(events, [{ kind: 'note', level: 'info', message }]);
  });
});
