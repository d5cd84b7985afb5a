import { setImmediate } from 'node:timers/promises';
import { counted } from '../../base/counted.js';
import { leaveLastCore } from '../../base/core-affinity.js';
import { messageOf } from '../../base/errors.js';
import { Batcher } from '../../load/batcher.js';
import { realClock } from '../../load/clock.js';
import { buildRefusal, orRefuse } from '../failure.js';
import type { JobResult, ServedAnswer, ServedQuery, ServeJob, ServingMessage } from './job.js';
import type { MeasureContext } from './measure-benchmark.js';
import { type OpenBenchmark, openBenchmark } from './open-benchmark.js';
import { ServingSpans } from './serving-spans.js';

/** Runs whose outputs are freed at once. */
const RUNS_PER_COLLECTION = 16;

export type Inbox = (message: ServingMessage) => void;

export interface ServingPort {
  readonly open: (receive: Inbox) => void;
  readonly serving: () => void;
  readonly answer: (answers: readonly ServedAnswer[]) => void;
}

async function openAll({ models, runOptions, memoryLimitBytes }: ServeJob, context: MeasureContext) {
  const opened = new Map<number, OpenBenchmark>();
  try {
    for (const [samples, benchmark] of models) {
      opened.set(samples, await openBenchmark({ benchmark, runOptions, memoryLimitBytes }, context));
    }
    return opened;
  } catch (error) {
    for (const one of opened.values()) await one.close();
    throw buildRefusal(error, 'open');
  }
}

/** Answers queries in their order, until the end is asked for. @throws PlatformError where opening or running fails */
export async function serveQueries(
  job: ServeJob,
  port: ServingPort,
  context: MeasureContext,
): Promise<Extract<JobResult, { kind: 'served' }>['served']> {
  const { nowNs, settle, recorder } = context;
  let runs = 0;
  const useAllCores = leaveLastCore(job.runOptions.threads);
  let opened: ReadonlyMap<number, OpenBenchmark> = new Map();
  try {
    opened = await recorder.section('load_model', {}, () => openAll(job, context));
    await recorder.section('warm_up', {}, async () => {
      for (const model of opened.values()) {
        for (let run = 0; run < job.warmupRuns; run++) {
          await orRefuse('run', () => model.execute());
          await settle();
        }
      }
    });
    const conditions = context.watchConditions();
    const spans = new ServingSpans(recorder);
    await new Promise<void>((resolve) => {
      let running = 0;
      let isEnding = false;
      const endIfIdle = (): void => {
        if (isEnding && running === 0 && batcher.length === 0) resolve();
      };
      const runOnce = async (queries: readonly ServedQuery[], batch: number): Promise<void> => {
        const startedNs = nowNs();
        const error = await execute(opened.get(batch), batch);
        const finishedNs = nowNs();
        port.answer(queries.map(({ id }) => ({ id, startedNs, finishedNs, batch, error })));
        for (const { receivedNs, samples } of queries) spans.add({ receivedNs, startedNs, finishedNs, samples, batch });
        // Lets the queries come in that were sent during the run. Freeing outputs takes time from the next query.
        if (++runs % RUNS_PER_COLLECTION === 0) await settle();
        else await setImmediate();
      };
      const toMs = (ns: bigint): number => Number(ns) / 1e6;
      const clock = realClock(() => toMs(nowNs()));
      const batcher = new Batcher<ServedQuery>(job.batching, clock, (queries, batch, done) => {
        running++;
        void runOnce(queries, batch).then(() => {
          running--;
          done();
          endIfIdle();
        });
      });
      port.open((message) => {
        if (message.kind === 'end') isEnding = true;
        else for (const query of message.queries) batcher.add(query, query.samples, toMs(query.receivedNs));
        endIfIdle();
      });
      port.serving();
    });
    port.open(() => undefined);
    return { conditions: conditions(), peakMemoryBytes: context.peakMemoryBytes() };
  } finally {
    for (const model of opened.values()) await model.close();
    useAllCores();
  }
}

/** @returns why the run failed; empty where it did not */
async function execute(model: OpenBenchmark | undefined, batch: number): Promise<string> {
  if (model === undefined) return `no model was opened for runs of ${counted(batch, 'sample')}`;
  try {
    await model.execute();
    return '';
  } catch (error) {
    return messageOf(error) || 'the run failed';
  }
}
