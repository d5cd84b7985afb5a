import assert from 'node:assert/strict';
import { test } from 'node:test';
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
