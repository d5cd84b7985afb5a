import { type Clock, monotonicClock } from '../../base/clock.js';
import { PlatformError } from '../../base/errors.js';
import { keepTrying } from '../../base/keep-trying.js';

export interface OutageRetryOptions {
  readonly address: string;
  readonly warn: (message: string) => void;
  readonly isPassing: (thrown: unknown) => boolean;
  readonly giveUpAfterMs: number;
  /** Replaces the client by a new one; called every 10 s of an outage. */
  readonly reconnect?: (() => void) | undefined;
  /** When it aborts, waiting ends. */
  readonly signal?: AbortSignal | undefined;
  readonly clock?: Clock | undefined;
}

/** After this long without an answer, the user gets a warning. */
const SLOW_MS = 5_000;

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 2_000;

/** The shortest time that a request gets, also after the limit: the outage may be over, and a server is often just busy. */
const MIN_ATTEMPT_MS = 5_000;

/** A request without an answer for this long is repeated: the driver has closed its connection long before. */
export const MAX_ATTEMPT_MS = 50_000;

/** The driver's check of a server may never end, and the driver then never finds the server again. */
export const RECONNECT_MS = 10_000;

/** Longest wait for an answer that is on its way when the user interrupts, and after one that did not come. */
const AFTER_ABORT_MS = 2_000;
const LATER_AFTER_ABORT_MS = 100;

class Unanswered extends Error {}

/** Repeats idempotent requests until the server answers, up to a time limit. A store's requests share an outage. */
export class OutageRetry {
  readonly #clock: Clock;
  /** Start of the outage by the clock; undefined while the server answers. */
  #since: number | undefined;
  #reconnectedMs = 0;
  #warned = false;
  #isGivenUp = false;

  constructor(private readonly options: OutageRetryOptions) {
    this.#clock = options.clock ?? monotonicClock;
  }

  /** Whether the server is gone, or may be: the user has interrupted, and waits no more for it. */
  get mayBeGone(): boolean {
    return this.#since !== undefined || this.options.signal?.aborted === true;
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
        isPassing: this.#isPassing,
        // An abort ends only the pause: the request is then repeated.
        clock: { now: this.#clock.now, sleep: (ms) => this.#clock.sleep(ms, this.options.signal) },
      });
    } finally {
      answered.abort();
    }
  }

  readonly #isPassing = (thrown: unknown): boolean => thrown instanceof Unanswered || this.options.isPassing(thrown);

  async #ask<T>(request: () => Promise<T>, started: number): Promise<T> {
    try {
      const result = await this.#withinLimits(request(), this.#since ?? started);
      this.#answered();
      return result;
    } catch (thrown) {
      if (!this.#isPassing(thrown)) throw thrown;
      this.#since ??= started;
      this.#warn(this.#since);
      const nowMs = this.#clock.now();
      if (nowMs - Math.max(this.#since, this.#reconnectedMs) >= RECONNECT_MS) {
        this.#reconnectedMs = nowMs;
        this.options.reconnect?.();
      }
      const isOver = nowMs - this.#since >= this.options.giveUpAfterMs;
      throw isOver || this.options.signal?.aborted === true ? this.#gone(thrown) : thrown;
    }
  }

  /** Limits a request to a server that accepts it and never answers. */
  async #withinLimits<T>(answer: Promise<T>, since: number): Promise<T> {
    const { giveUpAfterMs, signal } = this.options;
    const end = new AbortController();
    const ended = async (): Promise<never> => {
      const signals = signal === undefined ? [end.signal] : [end.signal, signal];
      const remaining = Math.max(MIN_ATTEMPT_MS, since + giveUpAfterMs - this.#clock.now());
      await this.#clock.sleep(Math.min(remaining, MAX_ATTEMPT_MS), AbortSignal.any(signals));
      const patienceMs = this.#isGivenUp ? LATER_AFTER_ABORT_MS : AFTER_ABORT_MS;
      if (!end.signal.aborted && signal?.aborted === true) await this.#clock.sleep(patienceMs, end.signal);
      const isOver = signal?.aborted === true || remaining <= MAX_ATTEMPT_MS;
      // After an answer, nobody hears of this.
      throw isOver && !end.signal.aborted ? this.#gone(undefined) : new Unanswered();
    };
    try {
      return await Promise.race([answer, ended()]);
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
    this.#isGivenUp = false;
  }

  #warn(since: number): void {
    if (this.#warned) return;
    this.#warned = true;
    const { giveUpAfterMs, address, warn } = this.options;
    const remaining = Math.ceil((since + giveUpAfterMs - this.#clock.now()) / 1000);
    const wait = remaining > 0 ? `; waiting for it, ${remaining} s at most` : '';
    warn(`The store ${address} does not answer${wait}.`);
  }

  #gone(cause: unknown): PlatformError {
    const { giveUpAfterMs, address, signal } = this.options;
    this.#isGivenUp = true;
    const waited = signal?.aborted === true ? '' : ` for ${giveUpAfterMs / 1000} s`;
    return new PlatformError(
      'unavailable',
      `The store ${address} has not answered${waited}. Check that the server runs and can be reached from here.`,
      { cause },
    );
  }
}
