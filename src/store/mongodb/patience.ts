import { setTimeout as sleep } from 'node:timers/promises';
import { PlatformError } from '../../base/errors.js';

/** How a store waits for its server. */
export interface PatienceOptions {
  readonly place: string;
  readonly warn: (message: string) => void;
  /** A failure that may pass. */
  readonly isPassing: (thrown: unknown) => boolean;
  /** After so long without an answer the server counts as gone for good. */
  readonly giveUpAfterMs: number;
  /** Aborted: no more waiting. */
  readonly signal?: AbortSignal | undefined;
}

/** Without any answer for so long, a user wants to know. */
const SLOW_MS = 5_000;

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;

/**
 * Repeats what a server does not answer until it does, and gives up when that takes too long. Requests have to be
 * idempotent: one whose answer was lost is made again. All requests of a store share the outage that they meet.
 */
export class Patience {
  /** Since when the server has not answered; undefined while it does. */
  #since: number | undefined;
  #warned = false;

  constructor(private readonly options: PatienceOptions) {}

  /** @throws what `request` throws if that does not pass, and PlatformError `unavailable` when the server is gone */
  async run<T>(request: () => Promise<T>): Promise<T> {
    const started = Date.now();
    const slow = setTimeout(() => this.#warn(started), SLOW_MS);
    try {
      return await this.#repeat(request, started);
    } finally {
      clearTimeout(slow);
    }
  }

  async #repeat<T>(request: () => Promise<T>, started: number): Promise<T> {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      try {
        const result = await this.#untilGivenUp(request(), this.#since ?? started);
        this.#answered();
        return result;
      } catch (thrown) {
        if (!this.options.isPassing(thrown)) throw thrown;
        this.#since ??= started;
        this.#warn(this.#since);
        if (Date.now() - this.#since >= this.options.giveUpAfterMs || this.options.signal?.aborted === true) {
          throw this.#gone(thrown);
        }
      }
      await sleep(pauseMs, undefined, { signal: this.options.signal }).catch(() => undefined);
    }
  }

  /** A server that takes a request and never answers must not hold it forever. */
  async #untilGivenUp<T>(answer: Promise<T>, since: number): Promise<T> {
    const { giveUpAfterMs, signal } = this.options;
    const end = new AbortController();
    const givenUp = async (): Promise<never> => {
      const signals = signal === undefined ? [end.signal] : [end.signal, signal];
      const remaining = Math.max(0, since + giveUpAfterMs - Date.now());
      await sleep(remaining, undefined, { signal: AbortSignal.any(signals) }).catch(() => undefined);
      // Whoever was interrupted gets the moment that an answer which is on its way needs.
      if (!end.signal.aborted && signal?.aborted === true) {
        await sleep(AFTER_ABORT_MS, undefined, { signal: end.signal }).catch(() => undefined);
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
    if (this.#since !== undefined || this.#warned) this.options.warn(`The store ${this.options.place} answers again.`);
    this.#since = undefined;
    this.#warned = false;
  }

  #warn(since: number): void {
    if (this.#warned) return;
    this.#warned = true;
    const { giveUpAfterMs, place, warn } = this.options;
    const remaining = Math.ceil((since + giveUpAfterMs - Date.now()) / 1000);
    warn(`The store ${place} does not answer; waiting for it, ${remaining} s at most.`);
  }

  #gone(cause: unknown): PlatformError {
    const { giveUpAfterMs, place, signal } = this.options;
    const waited = signal?.aborted === true ? '' : ` for ${Math.round(giveUpAfterMs / 1000)} s`;
    return new PlatformError(
      'unavailable',
      `The store ${place} has not answered${waited}. Check that the server runs and can be reached from here.`,
      { cause },
    );
  }
}

const AFTER_ABORT_MS = 2_000;
