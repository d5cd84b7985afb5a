import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { ServedAnswer, ServeJob } from '../../../src/agent/jobs/job.js';
import { type Inbox, serveQueries } from '../../../src/agent/jobs/serve-queries.js';
import { SpanRecorder } from '../../../src/tracing/span-recorder.js';
import { fakeContext, fakePredictor } from '../support/fake-context.js';
import { relu, runOptions } from '../support/tiny-benchmarks.js';

const job: ServeJob = {
  kind: 'serve',
  models: new Map([[1, relu]]),
  name: 'tiny',
  runOptions,
  batching: { limit: 1, waitMs: 0 },
  warmupRuns: 2,
  memoryLimitBytes: 2 ** 30,
};

test('a model warms up, answers its queries in order, and ends after the last one', async () => {
  let runs = 0;
  const predictor = fakePredictor({ execute: () => Promise.resolve(void runs++) });
  const recorder = new SpanRecorder('APPLICATION_TRACE');
  const answers: ServedAnswer[] = [];
  let receive: Inbox = () => assert.fail('nothing is open');
  await serveQueries(
    job,
    {
      open: (inbox) => (receive = inbox),
      serving: () => {
        const queries = [7, 8].map((id) => ({ id, samples: 1, receivedNs: 0n }));
        receive({ kind: 'queries', queries });
        receive({ kind: 'end' });
      },
      answer: (more) => void answers.push(...more),
    },
    fakeContext({ predictor, recorder }),
  );
  assert.deepEqual(
    answers.map(({ id, error }) => [id, error]),
    [
      [7, ''],
      [8, ''],
    ],
  );
  assert.equal(runs, 2 + 2);
  assert.deepEqual(
    recorder.take().flatMap(({ name, level }) => (/^(load_model|warm_up)$/.test(name) ? [[name, level]] : [])),
    [
      ['load_model', 'APPLICATION_TRACE'],
      ['warm_up', 'APPLICATION_TRACE'],
    ],
  );
});

test('a query that came during a run waits since then, for others as well as in its trace', async () => {
  const MS = 1_000_000n;
  let ns = 1000n * MS;
  const predictor = fakePredictor({ execute: () => Promise.resolve(void (ns += 40n * MS)) });
  const recorder = new SpanRecorder('MODEL_TRACE');
  const answers: ServedAnswer[] = [];
  let receive: Inbox = () => assert.fail('nothing is open');
  await serveQueries(
    { ...job, warmupRuns: 0, batching: { limit: 2, waitMs: 30 } },
    {
      open: (inbox) => (receive = inbox),
      serving: () => {
        // It came 35 ms ago, when the process was busy.
        receive({ kind: 'queries', queries: [{ id: 7, samples: 1, receivedNs: ns - 35n * MS }] });
        receive({ kind: 'end' });
      },
      answer: (more) => void answers.push(...more),
    },
    { ...fakeContext({ predictor, recorder }), nowNs: () => ns },
  );
  assert.equal(answers[0]?.startedNs, 1000n * MS);
  const query = recorder.take().find(({ name }) => name === 'query');
  assert.deepEqual(
    query?.children.map(({ name, durationNs }) => [name, durationNs]),
    [
      ['queue', 35e6],
      ['c_predict', 40e6],
    ],
  );
});

/** Serves these queries, which all come before the first run. A run takes 3 ms. */
async function serve(samples: readonly number[], changes: Partial<ServeJob> = {}, failing = Infinity) {
  let nowMs = 1000;
  let runs = 0;
  let settled = 0;
  let closed = 0;
  const execute = async (): Promise<void> => {
    await setImmediate();
    nowMs += 3;
    if (runs++ === failing) throw new Error('node relu failed');
  };
  const fake = fakePredictor({ execute });
  const predictor: typeof fake = {
    ...fake,
    open: async (...given) => ({ ...(await fake.open(...given)), close: () => Promise.resolve(void closed++) }),
  };
  const recorder = new SpanRecorder('MODEL_TRACE');
  const answers: ServedAnswer[] = [];
  let receive: Inbox = () => assert.fail('nothing is open');
  const port = {
    open: (inbox: Inbox) => (receive = inbox),
    serving: () => {
      receive({ kind: 'queries', queries: samples.map((count, id) => ({ id, samples: count, receivedNs: nowNs() })) });
      receive({ kind: 'end' });
    },
    answer: (more: readonly ServedAnswer[]) => void answers.push(...more),
  };
  const nowNs = (): bigint => BigInt(nowMs * 1e6);
  const settle = (): Promise<void> => Promise.resolve(void settled++);
  const context = fakeContext({ predictor, recorder, nowNs, settle, peakMemoryBytes: () => 77 });
  const served = await serveQueries({ ...job, warmupRuns: 0, ...changes }, port, context);
  return { served, answers, settled, closed, spans: recorder.take() };
}

test('an answer says when its run began and ended, and a trace also how long its query waited', async () => {
  const { answers, spans, served } = await serve([1, 1]);
  const ms = (ns: bigint): number => Number(ns) / 1e6;
  assert.deepEqual(
    answers.map(({ startedNs, finishedNs, batch }) => [ms(startedNs), ms(finishedNs), batch]),
    [
      [1000, 1003, 1],
      [1003, 1006, 1],
    ],
  );
  const queries = spans.filter(({ name }) => name === 'query');
  assert.deepEqual(
    queries.map(({ children }) => children.map(({ name, durationNs }) => [name, durationNs])),
    [0, 3e6].map((waitedNs) => [
      ['queue', waitedNs],
      ['c_predict', 3e6],
    ]),
  );
  assert.deepEqual(served, { conditions: { wallMs: 1, cores: 1 }, peakMemoryBytes: 77 });
});

test('queries that wait are answered by one run of the model for their number', async () => {
  const models = new Map([
    [1, relu],
    [2, relu],
  ]);
  const { answers, closed } = await serve([1, 1, 1], { models, batching: { limit: 2, waitMs: 0 } });
  assert.deepEqual(
    answers.map(({ id, batch, error }) => [id, batch, error]),
    [
      [0, 1, ''],
      [1, 2, ''],
      [2, 2, ''],
    ],
  );
  assert.equal(closed, 2, 'both models are closed');
  const [answer] = (await serve([2], { batching: { limit: 2, waitMs: 0 } })).answers;
  assert.equal(answer?.error, 'no model was opened for runs of 2 samples');
});

test('a load run without queries ends', async () => {
  assert.deepEqual((await serve([])).answers, []);
});

test('a run that fails is the answer to its query, and the next query is served', async () => {
  const { answers } = await serve([1, 1, 1], {}, 1);
  assert.deepEqual(
    answers.map(({ error }) => error),
    ['', 'node relu failed', ''],
  );
});

test('outputs are freed after each run of the warm-up, and later after sixteen runs', async () => {
  const { settled } = await serve(Array(40).fill(1) as number[], { warmupRuns: 3 });
  assert.equal(settled, 3 + 2);
});

test('a model that cannot be opened, or whose warm-up fails, ends the load run, and the others are closed', async () => {
  await assert.rejects(serve([1], { warmupRuns: 1 }, 0), { code: 'model', message: /node relu failed/ });
  let closed = 0;
  const fake = fakePredictor({});
  let opened = 0;
  const predictor: typeof fake = {
    ...fake,
    open: async (...given) => {
      if (opened++ === 1) throw new Error('no such operator');
      return { ...(await fake.open(...given)), close: () => Promise.resolve(void closed++) };
    },
  };
  const models = new Map([
    [1, relu],
    [2, relu],
  ]);
  const port = { open: () => {}, serving: () => assert.fail('it is not ready'), answer: () => {} };
  const refused = serveQueries({ ...job, models }, port, fakeContext({ predictor }));
  await assert.rejects(refused, { code: 'unsupported', message: /no such operator/ });
  assert.equal(closed, 1);
});
