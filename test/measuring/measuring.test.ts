import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { describe, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { collect } from '../../src/base/collect.js';
import { PlatformError } from '../../src/base/errors.js';
import { Measuring } from '../../src/measuring/measuring.js';
import { KnownResults } from '../../src/measuring/known-results.js';
import { RunProgress } from '../../src/measuring/run-progress.js';
import type { Task } from '../../src/measuring/task.js';
import type { BenchmarkAgent, MeasuredRequest, RequestProgress } from '../../src/agent/benchmark-agent.js';
import { createFakeAgent, type FakeAgentOptions } from '../support/fake-agent.js';
import type { Measurement } from '../../src/measurement/measurement.js';
import type { EvaluationEvent } from '../../src/evaluation/event.js';
import type { ResultStore } from '../../src/store/result-store.js';
import { until } from '../support/until.js';
import { openMemoryStore } from '../../src/store/memory/open.js';
import { conditionsBeside, measuredBeside } from '../store/measured-beside.js';
import { sampleMeasurement, SYSTEM } from '../store/sample-measurement.js';
import { sampleTasks } from './sample-tasks.js';
import { withClock } from './with-clock.js';
import { identifySystem } from '../../src/measurement/system.js';

const TASKS = sampleTasks('model: Relu', 'model: Neg', 'model: Abs');

async function measuringWith(agent: BenchmarkAgent, signal = new AbortController().signal, shared?: ResultStore) {
  const events: EvaluationEvent[] = [];
  const onEvent = (event: EvaluationEvent): void => void events.push(event);
  const results = new KnownResults();
  const progress = new RunProgress();
  const store = shared ?? (await openMemoryStore());
  const system = identifySystem(agent.description, SYSTEM.runOptions);
  const measuring = new Measuring({ agent, store, signal, onEvent }, system, results, progress);
  return { measuring, events, results, progress, store };
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

  test('reports the label of each brick, the number of done measurements and the total', async () => {
    const { measuring, events, progress } = await measuringWith(fakeAgent());
    progress.add(TASKS);
    assert.equal(await measuring.measure(TASKS), 3);
    assert.deepEqual(countsIn(events), ['0/3 model: Relu', '1/3 model: Neg', '2/3 model: Abs']);
  });

  test('does not store again what the agent has stored', async () => {
    const agent = fakeAgent();
    const storing: BenchmarkAgent = {
      ...agent,
      async *measure(requests, options) {
        for await (const one of agent.measure(requests, options)) {
          yield one.index === 1 ? { ...one, isStored: true } : one;
        }
      },
    };
    const { measuring, results, store } = await measuringWith(storing);
    assert.equal(await measuring.measure(TASKS), 3);
    assert.ok(TASKS.every(({ request }) => results.get(request) !== undefined));
    const stored = (await collect(store.listMeasurements())).map(({ signature }) => signature);
    const expected = [TASKS[0], TASKS[2]].map((task) => task?.request.benchmark.signature ?? '');
    assert.deepEqual(stored.sort(), expected.sort());
  });

  test('continues its count when more tasks are added', async () => {
    const { measuring, events, progress } = await measuringWith(fakeAgent());
    progress.add(TASKS);
    await measuring.measure(TASKS);
    progress.add(TASKS.slice(0, 1));
    await measuring.measure(TASKS.slice(0, 1));
    assert.equal(countsIn(events).at(-1), '3/4 model: Relu');
  });

  test('warns only of the brick that fails, with its name and the reason', async () => {
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

  test('says once that another process measures on the machine, and shows it each time', async () => {
    const agent = reporting((report) => {
      report({ phase: 'waiting', waitsFor: 4242 });
      report({ phase: 'preparing' });
      report({ phase: 'waiting', waitsFor: 4242 });
    });
    const { measuring, events } = await measuringWith(agent);
    await measuring.measure(TASKS.slice(0, 1));
    const waiting = 'waiting for process 4242, which measures on the same machine';
    assert.deepEqual(labelsIn(events), [waiting, 'model: Relu', waiting]);
    assert.deepEqual(
      events.filter(({ kind }) => kind === 'note'),
      [{ kind: 'note', level: 'info', message: waiting }],
    );
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
    assert.deepEqual([measuring.wallMs, measuring.delayMs], [60, 0]);
  });

  test('adds up apart the time that it waits for another process', async (t) => {
    const time = withClock(t);
    const agent = reporting((report) => {
      report({ phase: 'waiting', waitsFor: 4242 });
      time.nowMs += 1000;
      report({ phase: 'waiting', waitsFor: 4242 });
      time.nowMs += 500;
      report({ phase: 'preparing' });
      time.nowMs += 30;
    });
    const { measuring } = await measuringWith(agent);
    await measuring.measure(TASKS.slice(0, 1));
    assert.deepEqual([measuring.wallMs, measuring.delayMs], [30, 1500]);
  });

  test('adds up apart the time that disturbed measurements take again', async (t) => {
    const time = withClock(t);
    let series = 0;
    const agent: BenchmarkAgent = {
      ...fakeAgent(),
      async *measure(): AsyncGenerator<MeasuredRequest> {
        time.nowMs += 30;
        yield await Promise.resolve({ index: 0, measurement: measuredBeside(series++ === 0 ? 900 : 0, 0) });
      },
    };
    const { measuring } = await measuringWith(agent);
    await measuring.measure(TASKS.slice(0, 1));
    assert.deepEqual([series, measuring.wallMs, measuring.delayMs], [2, 30, 30]);
  });

  for (const [count, named] of [
    [1, '1 measurement'],
    [2, '2 measurements'],
  ] as const) {
    test(`reports in a separate note that it repeats ${named} that others disturbed, and their share`, async () => {
      const controller = new AbortController();
      const agent: BenchmarkAgent = {
        ...fakeAgent(),
        async *measure(): AsyncGenerator<MeasuredRequest> {
          for (let index = 0; index < count; index++) {
            yield await Promise.resolve({ index, measurement: measuredBeside(900, index) });
          }
        },
      };
      const { measuring, events } = await measuringWith(agent, controller.signal);
      const measured = measuring.measure(TASKS.slice(0, count));
      while (events.length === 0) await new Promise(setImmediate);
      // The interruption ends the pause before the repetition, and nothing is repeated.
      controller.abort();
      assert.equal(await measured, count);
      const message = `taking ${named} again: other processes took 45 % of the processors' time meanwhile`;
      assert.deepEqual(events, [{ kind: 'note', level: 'info', message }]);
    });
  }
});

test('new measurements that other processes disturbed are kept if nothing is to be taken again', async () => {
  const disturbed = [0, 1, 2].map((index) => measuredBeside(900, index));
  const { measuring, events, results } = await measuringWith(giving(...disturbed));
  assert.equal(await measuring.measure(TASKS, { kind: 'none' }), 3);
  assert.deepEqual([...results.measurements()], disturbed);
  assert.deepEqual(
    events.filter(({ kind }) => kind === 'note'),
    [],
  );
});

/** An agent that yields these measurements in order, for any requests. */
function giving(...measurements: readonly Measurement[]): BenchmarkAgent {
  return {
    ...fakeAgent(),
    async *measure(): AsyncGenerator<MeasuredRequest> {
      for (const [index, measurement] of measurements.entries()) yield await Promise.resolve({ index, measurement });
    },
  };
}

describe('stored measurements that other processes disturbed', () => {
  const notesIn = (events: readonly EvaluationEvent[]): readonly string[] => {
    return events.flatMap((event) => (event.kind === 'note' ? [event.message] : []));
  };
  const TAKING = 'taking 3 of the stored measurements again, because other processes disturbed them';

  /**
   * Retakes three measurements that others disturbed for 900 ms. Returns their results that are known and stored then.
   */
  async function replace(...measurements: readonly Measurement[]) {
    const { measuring, events, results, store } = await measuringWith(giving(...measurements));
    for (const index of TASKS.keys()) results.put(measuredBeside(900, index));
    const replaced = await measuring.replaceWhileQuiet(TASKS);
    const stored = (await collect(store.listMeasurements())).map(({ conditions }) => conditions?.othersMs ?? -1);
    const known = TASKS.map(({ request }) => results.get(request)?.conditions?.othersMs);
    return { measuring, events, replaced, stored, known };
  }

  test('are replaced by those of a quiet machine', async () => {
    const quiet = [0, 1, 2].map((index) => measuredBeside(10, index));
    const { replaced, stored, known, events } = await replace(...quiet);
    assert.deepEqual([replaced, stored, known], [3, [10, 10, 10], [10, 10, 10]]);
    assert.deepEqual(notesIn(events), [TAKING]);
  });

  test('stay, from the first one on that is disturbed again, and no later one is taken', async () => {
    const taken = [measuredBeside(10, 0), measuredBeside(950, 1), measuredBeside(10, 2)];
    const { measuring, replaced, stored, known, events } = await replace(...taken);
    assert.deepEqual([replaced, stored, known], [1, [10], [10, 900, 900]]);
    assert.deepEqual(notesIn(events), [TAKING, 'the machine is still busy: keeping 2 of them as they are']);
    assert.equal(await measuring.replaceWhileQuiet(TASKS), 0);
    assert.equal(notesIn(events).length, 2);
  });

  test('are not announced to stay where none does', async () => {
    const { replaced, events } = await replace(measuredBeside(10, 0), measuredBeside(10, 1), measuredBeside(500, 2));
    assert.equal(replaced, 3);
    assert.deepEqual(notesIn(events), [TAKING]);
  });

  test('stay where taking them again fails', async () => {
    const outcome = { kind: 'failure', reason: 'crashed', message: 'gone' } as const;
    const failed = [0, 1, 2].map((index) => sampleMeasurement(index, { conditions: conditionsBeside(0), outcome }));
    const { replaced, stored, known } = await replace(...failed);
    assert.deepEqual([replaced, stored, known], [0, [], [900, 900, 900]]);
  });

  test('cause no event if there are none', async () => {
    const { measuring, events } = await measuringWith(giving());
    assert.equal(await measuring.replaceWhileQuiet([]), 0);
    assert.deepEqual(events, []);
  });
});

test('the remaining time is estimated from the time that runs take', async (t) => {
  const time = withClock(t);
  const agent = reporting((report) => {
    // Preparing takes most of the time, and says nothing about the runs.
    time.nowMs += 5000;
    report({ runsDone: 1, runsTotal: 10 });
    time.nowMs += 1000;
    report({ runsDone: 6, runsTotal: 10 });
  });
  const { measuring, events, progress } = await measuringWith(agent);
  progress.add(TASKS.slice(0, 1));
  await measuring.measure(TASKS.slice(0, 1));
  const [early, event] = events;
  assert.ok(early?.kind === 'measuring' && early.secondsLeft === undefined);
  // Five runs took one second, and four are left.
  assert.ok(event?.kind === 'measuring' && event.secondsLeft === 0.8);
});

test('measurements that do not belong to a task are left out', async () => {
  const { measuring, results } = await measuringWith(giving(sampleMeasurement(0), sampleMeasurement(1)));
  assert.equal(await measuring.measure(TASKS.slice(0, 1)), 1);
  assert.equal([...results.measurements()].length, 1);
});

describe('measuring beside others that use the same store', { timeout: 60_000 }, () => {
  const signal = new AbortController().signal;

  /** An agent that starts to measure when the promise `after` resolves. */
  function laterAgent(after: Promise<void>, options: Partial<FakeAgentOptions> = {}) {
    const agent = createFakeAgent({ latencyOf: () => 1, ...options });
    const measure: BenchmarkAgent['measure'] = async function* (requests, measuring) {
      await after;
      yield* agent.measure(requests, measuring);
    };
    return { agent: { ...agent, measure }, measured: agent.measured };
  }

  const waitingIn = (events: readonly EvaluationEvent[]): readonly string[] => {
    return events.flatMap((event) => (event.kind === 'note' && /^waiting/.test(event.message) ? [event.message] : []));
  };

  test('takes a measurement once if two evaluations ask for it at the same time, and both get it', async () => {
    let go = (): void => {};
    const slow = laterAgent(new Promise((resolve) => (go = resolve)));
    const quick = createFakeAgent({ latencyOf: () => 2 });
    const store = await openMemoryStore();
    const first = await measuringWith(slow.agent, signal, store);
    const second = await measuringWith(quick, signal, store);
    for (const { progress } of [first, second]) progress.add(TASKS);
    const one = first.measuring.measure(TASKS.slice(0, 2));
    const other = second.measuring.measure(TASKS);
    await until(() => waitingIn(second.events).length > 0);
    go();
    assert.deepEqual([await one, await other, second.measuring.arrived], [2, 1, 2]);
    // One that arrives is done as well.
    const event = second.progress.event('', { first: undefined, together: 0, runsDone: 0, runsTotal: 0 });
    assert.ok(event.kind === 'measuring' && event.done === 3);
    const signatures = TASKS.map(({ request }) => request.benchmark.signature);
    assert.deepEqual([...slow.measured, ...quick.measured].toSorted(), signatures.toSorted());
    const kept = TASKS.map(({ request }) => second.results.get(request)?.outcome);
    assert.deepEqual(
      kept.map((outcome) => outcome?.kind === 'samples' && outcome.runMs[0]),
      [1, 1, 2],
    );
  });

  test('reports once what it waits for and which process takes it, and shows this as its progress', async () => {
    let go = (): void => {};
    const slow = laterAgent(new Promise((resolve) => (go = resolve)));
    const store = await openMemoryStore();
    const first = await measuringWith(slow.agent, signal, store);
    const second = await measuringWith(fakeAgent(), signal, store);
    second.progress.add(TASKS);
    const both = [first.measuring.measure(TASKS), second.measuring.measure(TASKS)];
    await until(() => labelsIn(second.events).length >= 2);
    go();
    await Promise.all(both);
    const message = `waiting for 3 measurements that process ${process.pid} on ${hostname()} takes for another evaluation`;
    assert.deepEqual(waitingIn(second.events), [message]);
    assert.ok(labelsIn(second.events).every((label) => label === message));
  });

  test('waits no longer after an interruption', async () => {
    const store = await openMemoryStore();
    const interrupted = new AbortController();
    let go = (): void => {};
    const slow = laterAgent(new Promise((resolve) => (go = resolve)));
    const first = await measuringWith(slow.agent, signal, store);
    const one = first.measuring.measure(TASKS);
    const second = await measuringWith(fakeAgent(), interrupted.signal, store);
    const waiting = second.measuring.measure(TASKS).then((measured) => `measured ${measured}`);
    await until(() => waitingIn(second.events).length > 0);
    interrupted.abort();
    // Without the interruption, it would look again after a second. Turns of the event loop take as long as the machine is busy.
    const turns = (async () => {
      for (let turn = 0; turn < 20; turn++) await nextTurn();
      return 'still waiting';
    })();
    assert.equal(await Promise.race([waiting, turns]), 'measured 0');
    go();
    await one;
  });

  test('names all three other processes', async () => {
    let go = (): void => {};
    const released = new Promise<void>((resolve) => (go = resolve));
    const store = await openMemoryStore();
    const others = [];
    for (const task of TASKS.slice(0, 3)) {
      const { measuring, progress } = await measuringWith(laterAgent(released).agent, signal, store);
      progress.add([task]);
      others.push(measuring.measure([task]));
    }
    const last = await measuringWith(fakeAgent(), signal, store);
    last.progress.add(TASKS);
    const waiting = last.measuring.measure(TASKS);
    await until(() => waitingIn(last.events).length > 0);
    go();
    await Promise.all([...others, waiting]);
    const other = `process ${process.pid} on ${hostname()}`;
    const message = `waiting for 3 measurements that ${other}, ${other}, ${other} takes for another evaluation`;
    assert.deepEqual(waitingIn(last.events), [message]);
  });

  test('takes the measurements that another evaluation gave up', async () => {
    const interrupted = new AbortController();
    const slow = laterAgent(new Promise((resolve) => interrupted.signal.addEventListener('abort', () => resolve())));
    const store = await openMemoryStore();
    const first = await measuringWith(slow.agent, interrupted.signal, store);
    const second = await measuringWith(fakeAgent(), signal, store);
    const one = first.measuring.measure(TASKS);
    const other = second.measuring.measure(TASKS);
    await until(() => waitingIn(second.events).length > 0);
    interrupted.abort();
    assert.deepEqual([await one, await other], [0, 3]);
  });

  test('waits for the new measurement if both evaluations take a known one again', async () => {
    let go = (): void => {};
    const measuredAt = '2026-03-01T00:00:00Z';
    const slow = laterAgent(new Promise((resolve) => (go = resolve)), { measuredAt });
    const store = await openMemoryStore();
    const quick = createFakeAgent({ latencyOf: () => 2 });
    const first = await measuringWith(slow.agent, signal, store);
    const second = await measuringWith(quick, signal, store);
    const [task] = TASKS;
    assert.ok(task !== undefined);
    const stored = sampleMeasurement(0, { system: identifySystem(quick.description, SYSTEM.runOptions) });
    await store.putMeasurement(stored);
    for (const { results } of [first, second]) results.put(stored);
    const both = [first.measuring.measure([task]), second.measuring.measure([task])];
    await until(() => waitingIn(second.events).length > 0);
    go();
    assert.deepEqual(await Promise.all(both), [1, 0]);
    assert.equal(second.results.get(task.request)?.measuredAt, measuredAt);
  });

  test('does not retake what another evaluation is taking, and reports nothing', async () => {
    let go = (): void => {};
    let hasBegun = false;
    const slow = laterAgent(new Promise((resolve) => (go = resolve)));
    const measure: BenchmarkAgent['measure'] = (...args) => {
      hasBegun = true;
      return slow.agent.measure(...args);
    };
    const store = await openMemoryStore();
    const first = await measuringWith({ ...slow.agent, measure }, signal, store);
    const second = await measuringWith(fakeAgent(), signal, store);
    const one = first.measuring.measure(TASKS);
    await until(() => hasBegun);
    assert.equal(await second.measuring.replaceWhileQuiet(TASKS), 0);
    assert.deepEqual(second.events, []);
    go();
    assert.equal(await one, 3);
  });

  test('continues alone if the shared store does not answer', async () => {
    const store = await openMemoryStore();
    const gone = (): Promise<never> => Promise.reject(new PlatformError('unavailable', 'the store does not answer'));
    const collection: ResultStore['collection'] = (definition) => {
      const documents = store.collection(definition);
      const find = documents.find.bind(documents);
      return { find, put: gone, putMany: gone, insert: gone, get: gone, count: gone, delete: gone };
    };
    const spooling: ResultStore = Object.create(store, { collection: { value: collection } }) as ResultStore;
    Object.defineProperty(spooling, 'putMeasurement', { value: store.putMeasurement.bind(store) });
    Object.defineProperty(spooling, 'findMeasurements', { value: gone });
    const { measuring, results } = await measuringWith(fakeAgent(), signal, spooling);
    assert.equal(await measuring.measure(TASKS), 3);
    assert.ok(TASKS.every(({ request }) => results.get(request) !== undefined));
  });
});
