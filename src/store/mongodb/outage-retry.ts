import { type Clock, monotonicClock } from '../../base/clock.js';
import { PlatformError } from '../../base/errors.js';
import { keepTrying } from '../../base/keep-trying.js';

export interface OutageRetryOptions {
  readonly address: string;
  readonly warn: (message: string) => void;
  readonly isPassing: (thrown: unknown) => boolean;
  readonly giveUpAfterMs: number;
  /** When it aborts, waiting ends. */
  readonly signal?: AbortSignal | undefined;
  readonly clock?: Clock | undefined;
}

/** After this long without an answer, the user gets a warning. */
const SLOW_MS = 5_000;

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 2_000;

/** Longest wait for an answer that is on its way when the user interrupts. */
const AFTER_ABORT_MS = 2_000;

/** Repeats idempotent requests until the server answers, up to a time limit. A store's requests share an outage. */
export class OutageRetry {
  readonly #clock: Clock;
  /** Start of the outage by the clock; undefined while the server answers. */
  #since: number | undefined;
  #warned = false;

  constructor(private readonly options: OutageRetryOptions) {
    this.#clock = options.clock ?? monotonicClock;
  }

  /** @throws errors of `request` that do not pass, and PlatformError `unavailable` when the server is gone */
  async run<T>(request: () => Promise<T>): Promise<T> {
    const started = this.#clock.now();
    const answered = new AbortController();
    void this.#clock.sleep(SLOW_MS, answered.signal).then(() => {
      if (!answered.signal.aborted) this.#warn(started);
    });
    try {
      return await keepTrying(() => this.#ask(request, started), {
        firstPauseMs: FIRST_PAUSE_MS,
        longestPauseMs: MAX_PAUSE_MS,
        isPassing: this.options.isPassing,
        // An abort ends only the pause: the request is then repeated.
        clock: { now: this.#clock.now, sleep: (ms) => this.#clock.sleep(ms, this.options.signal) },
      });
    } finally {
      answered.abort();
    }
  }

  async #ask<T>(request: () => Promise<T>, started: number): Promise<T> {
    try {
      const result = await this.#untilGivenUp(request(), this.#since ?? started);
      this.#answered();
      return result;
    } catch (thrown) {
      if (!this.options.isPassing(thrown)) throw thrown;
      this.#since ??= started;
      this.#warn(this.#since);
      const isOver = this.#clock.now() - this.#since >= this.options.giveUpAfterMs;
      throw isOver || this.options.signal?.aborted === true ? this.#gone(thrown) : thrown;
    }
  }

  /** Limits a request to a server that accepts it and never answers. */
  async #untilGivenUp<T>(answer: Promise<T>, since: number): Promise<T> {
    const { giveUpAfterMs, signal } = this.options;
    const end = new AbortController();
    const givenUp = async (): Promise<never> => {
      const signals = signal === undefined ? [end.signal] : [end.signal, signal];
      const remaining = Math.max(0, since + giveUpAfterMs - this.#clock.now());
      await this.#clock.sleep(remaining, AbortSignal.any(signals));
      if (!end.signal.aborted && signal?.aborted === true) {
        await this.#clock.sleep(AFTER_ABORT_MS, end.signal);
      }
      throw this.#gone(undefined);
    };
    try {
      return await Promise.race([answer, givenUp()]);
    } finally {
      end.abort();
      answer.catch(() => undefined);
    }
  }

  #answered(): void {
    if (this.#since !== undefined || this.#warned)
      this.options.warn(`The store ${this.options.address} answers again.`);
    this.#since = undefined;
    this.#warned = false;
  }

  #warn(since: number): void {
    if (this.#warned) return;
    this.#warned = true;
    const { giveUpAfterMs, address, warn } = this.options;
    const remaining = Math.ceil((since + giveUpAfterMs - this.#clock.now()) / 1000);
    warn(`The store ${address} does not answer; waiting for it, ${remaining} s at most.`);
  }

  #gone(cause: unknown): PlatformError {
    const { giveUpAfterMs, address, signal } = this.options;
    const waited = signal?.aborted === true ? '' : ` for ${Math.round(giveUpAfterMs / 1000)} s`;
    return new PlatformError(
      'unavailable',
      `The store ${address} has not answered${waited}. Check that the server runs and can be reached from here.`,
      { cause },
    );
  }
}
