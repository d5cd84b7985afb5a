import type { Clock } from '../../base/clock.js';
import { hasEnded } from '../../base/process-life.js';
import type { Collection } from '../collection.js';
import type { Holder } from './holder.js';

/** A holder without a new beat for this long is gone: five beats, since a busy machine may delay some. */
const SILENCE_MS = 10_000;

/** The most silence between two looks: after an outage of the store or this process, holders get time for a beat. */
const MAX_BETWEEN_LOOKS_MS = 2_000;

/** Finds holders of leases that are gone, by its own monotonic clock: those of other machines are never compared. */
export class HolderWatch {
  readonly #seen = new Map<string, { readonly beat: number; readonly silentMs: number; readonly atMs: number }>();

  constructor(
    private readonly holders: Collection<Holder>,
    private readonly clock: Clock,
  ) {}

  /** Removes a holder that is gone. Only repeated calls detect silence. @returns undefined if it is gone */
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
