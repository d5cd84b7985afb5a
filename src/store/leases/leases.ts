import { z } from 'zod';
import { type Clock, monotonicClock } from '../../base/clock.js';
import type { Collection, CollectionDefinition } from '../collection.js';
import type { ResultStore } from '../result-store.js';
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { ownLife, hasEnded } from '../../base/process-life.js';

/** A holder without a new beat for this long is gone: five beats, since a busy machine may delay some. */
const SILENCE_MS = 10_000;

/** The most silence between two looks: after an outage of the store or this process, holders get time for a beat. */
const MAX_BETWEEN_LOOKS_MS = 2_000;

const holderSchema = z.strictObject({
  id: z.string(),
  host: z.string(),
  pid: z.int(),
  /** Lets processes of the same machine see at once that the holder's process has ended. */
  life: z.strictObject({ machine: z.string(), pid: z.int(), startTicks: z.string() }).optional(),
  beat: z.int(),
});

export type Holder = Readonly<z.infer<typeof holderSchema>>;

export const HOLDERS: CollectionDefinition<Holder> = {
  name: 'lease_holders',
  schema: holderSchema,
  key: ['id'],
  indexes: [],
  isMomentary: true,
};

export function newHolder(): Holder {
  const life = ownLife();
  return { id: randomUUID(), host: hostname(), pid: process.pid, ...(life && { life }), beat: 0 };
}

const BEAT_MS = 2_000;

/** Up to this many leases are asked for one by one. For more, all held leases are read first. */
const FEW = 10;

export type LeaseKind = 'measurement' | 'evaluation' | 'work';

const leaseSchema = z.strictObject({
  kind: z.string(),
  name: z.string(),
  holder: z.string(),
});

type Lease = Readonly<z.infer<typeof leaseSchema>>;

const LEASES: CollectionDefinition<Lease> = {
  name: 'leases',
  schema: leaseSchema,
  key: ['kind', 'name'],
  indexes: [['holder'], ['kind', 'name', 'holder']],
  isMomentary: true,
};

/** Apart from thousands of leases on measurements: some servers read a whole collection to find one document. */
const WORK_LEASES: CollectionDefinition<Lease> = { ...LEASES, name: 'work_leases' };

/**
 * Exclusive rights, kept in a store for all its processes and machines. A holder beats while it lives; others take over
 * the rights of a silent one. A holder that was suspended may have lost some: {@link Leases.held} returns those left.
 */
export class Leases {
  readonly #leases: Collection<Lease>;
  readonly #holders: Collection<Holder>;
  /** Of other holders, by the own monotonic clock: clocks of other machines are never compared. */
  readonly #seen = new Map<string, { readonly beat: number; readonly silentMs: number; readonly atMs: number }>();
  readonly #stop = new AbortController();
  #self = newHolder();
  #appeared: Promise<void> | undefined;
  #beating: Promise<void> = Promise.resolve();

  constructor(
    store: Pick<ResultStore, 'collection'>,
    private readonly kind: LeaseKind,
    private readonly clock: Clock = monotonicClock,
  ) {
    this.#leases = store.collection(kind === 'work' ? WORK_LEASES : LEASES);
    this.#holders = store.collection(HOLDERS);
  }

  /** Takes leases that are free, or whose holder is gone (after several calls). @returns other holders, by name */
  async take(names: readonly string[]): Promise<ReadonlyMap<string, Holder>> {
    // The holder is stored first: a lease without a holder is free.
    await (this.#appeared ??= this.#appear());
    const owners = new Map<string, string>();
    if (names.length > FEW) {
      for await (const { name, holder } of this.#leases.find({ kind: this.kind })) owners.set(name, holder);
    }
    const looks = new Map<string, Promise<Holder | undefined>>();
    const look = (id: string): Promise<Holder | undefined> => {
      const looked = looks.get(id) ?? this.#look(id);
      looks.set(id, looked);
      return looked;
    };
    const others = new Map<string, Holder>();
    const take = async (name: string): Promise<void> => {
      const other = await this.#takeOne(name, owners.get(name), look);
      if (other !== undefined) others.set(name, other);
    };
    await Promise.all(names.map(take));
    return others;
  }

  /** A silent holder counts as gone only after several calls. @returns undefined if the lease has no holder */
  async holderOf(name: string): Promise<Holder | undefined> {
    const owner = (await this.#leases.get({ kind: this.kind, name }))?.holder;
    return owner === undefined ? undefined : this.#look(owner);
  }

  async held(): Promise<ReadonlySet<string>> {
    const names = new Set<string>();
    for await (const { name } of this.#leases.find({ holder: this.#self.id })) names.add(name);
    return names;
  }

  /** Gives back one lease, or all. @throws PlatformError as the store does */
  async release(name?: string): Promise<void> {
    const holder = this.#self.id;
    await this.#leases.delete(name === undefined ? { holder } : { kind: this.kind, name, holder });
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#beating;
    if (this.#appeared === undefined) return;
    try {
      await this.release();
      await this.#holders.delete({ id: this.#self.id });
    } catch {
      // Others notice the silence.
    }
  }

  async #appear(): Promise<void> {
    try {
      await this.#holders.put(this.#self);
    } catch (error) {
      // The next caller tries again.
      this.#appeared = undefined;
      throw error;
    }
    this.#beating = this.#beat();
  }

  async #beat(): Promise<void> {
    const { signal } = this.#stop;
    for (;;) {
      await this.clock.sleep(BEAT_MS, signal);
      if (signal.aborted) return;
      this.#self = { ...this.#self, beat: this.#self.beat + 1 };
      // While the store is unavailable, no other holder reaches it either.
      await this.#holders.put(this.#self).catch(() => undefined);
    }
  }

  /** Removes a holder that is gone, and its leases. Only repeated calls detect silence. @returns undefined if gone */
  async #look(id: string): Promise<Holder | undefined> {
    const holder = await this.#holders.get({ id });
    if (holder !== undefined && !this.#isGone(holder)) return holder;
    this.#seen.delete(id);
    if (holder !== undefined) await this.#holders.delete({ id });
    await this.#leases.delete({ holder: id });
    return undefined;
  }

  #isGone({ id, beat, life }: Holder): boolean {
    const atMs = this.clock.now();
    const before = this.#seen.get(id);
    const passedMs = before === undefined ? 0 : Math.min(atMs - before.atMs, MAX_BETWEEN_LOOKS_MS);
    const silentMs = before?.beat === beat ? before.silentMs + passedMs : 0;
    this.#seen.set(id, { beat, silentMs, atMs });
    return silentMs >= SILENCE_MS || (life !== undefined && hasEnded(life));
  }

  /** @param owner the holder's id, if it is known. @returns the holder, if it is another one and lives */
  async #takeOne(
    name: string,
    owner: string | undefined,
    look: (id: string) => Promise<Holder | undefined>,
  ): Promise<Holder | undefined> {
    const { kind } = this;
    const { id } = this.#self;
    for (;;) {
      if (owner === id) return undefined;
      if (owner !== undefined) {
        const holder = await look(owner);
        if (holder !== undefined) return holder;
      }
      if (await this.#leases.insert({ kind, name, holder: id })) return undefined;
      owner = (await this.#leases.get({ kind, name }))?.holder;
    }
  }
}
