import type { OnSample } from './measure-trials.js';

/** A line takes some hundred bytes. */
const MAX_SAMPLES = 1_000_000;

const us = (ms: number | null | undefined): number | null => (ms == null ? null : Math.round(ms * 1000));

/** Moments are in microseconds since the start of a query's trial. */
export class Samples {
  readonly #lines: string[] = [];
  #left = 0;

  readonly add: OnSample = ({ model, offered_per_second: offered, seed }, query) => {
    if (this.#lines.length >= MAX_SAMPLES) {
      this.#left++;
      return;
    }
    const { scheduledMs, sentMs, samples } = query;
    const answer = 'finishedMs' in query ? query : undefined;
    const line = {
      model,
      offered_per_second: offered,
      seed,
      scheduled_us: us(scheduledMs),
      sent_us: us(sentMs),
      started_us: us(answer?.startedMs),
      finished_us: us(answer?.finishedMs),
      samples,
      batch: answer?.batch ?? null,
      agent: answer?.server ?? null,
      outcome: answer === undefined ? 'unanswered' : answer.error === null ? 'answered' : 'failed',
      error: answer?.error ?? null,
    };
    this.#lines.push(JSON.stringify(line));
  };

  /** How many queries are left out because there are too many. */
  get left(): number {
    return this.#left;
  }

  text(): string {
    return this.#lines.map((line) => `${line}\n`).join('');
  }
}
