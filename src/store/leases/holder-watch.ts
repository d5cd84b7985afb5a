import type { Clock } from '../../base/clock.js';
import { hasEnded } from '../../base/process-life.js';
import type { Collection } from '../collection.js';
import type { Holder } from './holder.js';

/** A holder without a new beat for this long is gone: five beats, since a busy machine may delay some. */
const SILENCE_MS = 10_000;

/**
 * The most time that counts as silence between two calls of {@link HolderWatch.look}. After an outage of the store, or
 * of the watching process, this gives holders the time for a beat.
 */
const MAX_BETWEEN_LOOKS_MS = 2_000;

interface Seen {
  readonly beat: number;
  readonly silentMs: number;
  readonly atMs: number;
}

/**
 * Decides which holders of leases are gone. It compares beats and measures silence by its own monotonic clock, so that
 * clocks of different machines are never compared.
 */
export class HolderWatch {
  readonly #seen = new Map<string, Seen>();

  constructor(
    private readonly holders: Collection<Holder>,
    private readonly clock: Clock,
  ) {}

  /**
   * Checks whether a holder lives, and removes it if it is gone. Only repeated calls detect silence.
   *
   * @returns undefined if it is gone
   */
  async look(id: string): Promise<Holder | undefined> {
    const holder = await this.holders.get({ id });
    if (holder !== undefined && !this.#hasEnded(holder)) return holder;
    this.#seen.delete(id);
    if (holder !== undefined) await this.holders.delete({ id });
    return undefined;
  }

  #hasEnded({ id, beat, life }: Holder): boolean {
    const atMs = this.clock.now();
    const before = this.#seen.get(id);
    const passedMs = before === undefined ? 0 : Math.min(atMs - before.atMs, MAX_BETWEEN_LOOKS_MS);
    const silentMs = before?.beat === beat ? before.silentMs + passedMs : 0;
    this.#seen.set(id, { beat, silentMs, atMs });
    return silentMs >= SILENCE_MS || (life !== undefined && hasEnded(life));
  }
}
