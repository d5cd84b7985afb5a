import type { ServedAnswer, ServedQuery } from './job.js';
import type { SpanRecorder } from '../../tracing/span-recorder.js';
import { toUnixNano } from '../../tracing/unix-time.js';

type ServedTimes = Omit<ServedQuery, 'id'> & Omit<ServedAnswer, 'id' | 'error'>;

/** Most queries of a trace: a load run may have a million. */
const MAX_QUERIES = 1000;

/** Spans of the first queries of a load run: `query`, with `queue` until the model's run begins and `c_predict`, the run. */
export class ServingSpans {
  #queries = 0;

  constructor(private readonly recorder: SpanRecorder) {}

  add({ receivedNs, startedNs, finishedNs, samples, batch }: ServedTimes): void {
    if (!this.recorder.wants('MODEL_TRACE') || this.#queries >= MAX_QUERIES) return;
    const span = (name: string, fromNs: bigint, untilNs: bigint) => ({
      name,
      level: 'MODEL_TRACE' as const,
      startUnixNano: toUnixNano(fromNs),
      durationNs: Number(untilNs - fromNs),
      attributes: {},
      children: [],
    });
    const run = {
      ...span('c_predict', startedNs, finishedNs),
      attributes: { batch, evaluation_trace_level: 'MODEL_TRACE' },
    };
    this.recorder.add({
      ...span('query', receivedNs, finishedNs),
      attributes: { query_index: this.#queries++, samples },
      children: [span('queue', receivedNs, startedNs), run],
    });
  }
}
