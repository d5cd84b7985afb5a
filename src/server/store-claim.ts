import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { z } from 'zod';
import { type Clock, monotonicClock } from '../base/clock.js';
import { PlatformError } from '../base/errors.js';
import type { Collection, CollectionDefinition } from '../store/collection.js';
import type { ResultStore } from '../store/result-store.js';

/** Time between two signs of life. */
const BEAT_MS = 1000;

/**
 * A claimant without a sign of life for this long counts as dead: several beats, since a busy machine may delay some.
 */
const SILENCE_MS = 5000;

/** Time between two checks of the other claims while a server starts. */
const LOOK_MS = 500;

const claimSchema = z.strictObject({
  id: z.string(),
  /** A server continues the store's evaluations; a command runs only its own. */
  role: z.enum(['starting', 'server', 'command']),
  /** For messages. */
  host: z.string(),
  pid: z.int(),
  /** Increases while the claimant lives. */
  beat: z.int(),
});

type Claim = Readonly<z.infer<typeof claimSchema>>;

const CLAIMS: CollectionDefinition<Claim> = {
  name: 'store_claims',
  schema: claimSchema,
  key: ['id'],
  indexes: [],
};

export interface ClaimOptions {
  /** A server needs the store for itself. Commands share it with each other, and with a server that already runs. */
  readonly role: 'server' | 'command';
  /** Called if a server has to wait to find out whether other claimants are alive. */
  readonly onWait?: ((message: string) => void) | undefined;
  readonly clock?: Clock | undefined;
}

/**
 * The right of a server to run the evaluations of a store. Each claim is a document in the store. A claimant first
 * writes its own claim and then reads the others. So if two claimants start at once, at least one sees the other.
 * Clocks of different machines are never compared: a claimant is alive while its beats increase.
 */
export class StoreClaim {
  readonly #stop = new AbortController();
  #isLost = false;
  #beating: Promise<void> = Promise.resolve();
  #lose = (): void => {};
  /** Resolves when another server has taken over the store because this one seemed dead. */
  readonly lost = new Promise<void>((resolve) => (this.#lose = resolve));

  private constructor(
    private readonly claims: Collection<Claim>,
    private readonly clock: Clock,
    private claim: Claim,
  ) {}

  /** @throws PlatformError `unavailable` if another server, or a command, uses the store */
  static async take(store: ResultStore, { role, onWait, clock = monotonicClock }: ClaimOptions): Promise<StoreClaim> {
    const claims = store.collection(CLAIMS);
    const first = role === 'server' ? 'starting' : role;
    const document: Claim = { id: randomUUID(), role: first, host: hostname(), pid: process.pid, beat: 0 };
    const claim = new StoreClaim(claims, clock, document);
    await claims.put(document);
    claim.#beating = claim.#beat();
    try {
      if (role === 'server') await claim.#becomeServer(onWait);
      return claim;
    } catch (error) {
      await claim.release();
      throw error;
    }
  }

  /** Releases the store for others. */
  async release(): Promise<void> {
    this.#stop.abort();
    await this.#beating;
    if (this.#isLost) return;
    // If the store is unavailable, other servers notice the silence.
    await this.claims.delete({ id: this.claim.id }).catch(() => undefined);
  }

  async #becomeServer(onWait: ((message: string) => void) | undefined): Promise<void> {
    const first = await this.#others();
    if (first.size > 0) {
      const names = [...first.values()].map(nameOf).join(', ');
      const wait = 'it is taken over in 5 to 7 s, unless there is a sign of life';
      onWait?.(`${names} did not release this store; ${wait}`);
      await this.#waitForSilence(first);
    }
    await this.#put({ role: 'server' });
    // A claimant that began after the last check is seen now, or sees this claim.
    await this.#yieldTo(first);
  }

  /** Removes the others when all of them have been silent for long enough. */
  async #waitForSilence(first: ReadonlyMap<string, Claim>): Promise<void> {
    const started = this.clock.now();
    while (this.clock.now() - started < SILENCE_MS) {
      await this.clock.sleep(LOOK_MS);
      await this.#yieldTo(first);
    }
    for (const [id, { beat }] of await this.#others()) {
      if (first.get(id)?.beat === beat) await this.claims.delete({ id });
    }
  }

  /** @throws PlatformError `unavailable` if another claimant with priority has given a sign of life since `first` */
  async #yieldTo(first: ReadonlyMap<string, Claim>): Promise<void> {
    for (const other of (await this.#others()).values()) {
      if (first.get(other.id)?.beat !== other.beat && goesFirst(other, this.claim)) throw taken(other);
    }
  }

  async #others(): Promise<ReadonlyMap<string, Claim>> {
    const others = new Map<string, Claim>();
    for await (const claim of this.claims.find({})) if (claim.id !== this.claim.id) others.set(claim.id, claim);
    return others;
  }

  async #put(changes: Partial<Claim>): Promise<void> {
    this.claim = { ...this.claim, ...changes };
    await this.claims.put(this.claim);
  }

  async #beat(): Promise<void> {
    const { signal } = this.#stop;
    for (;;) {
      await this.clock.sleep(BEAT_MS, signal);
      if (signal.aborted) return;
      try {
        const known = await this.claims.get({ id: this.claim.id });
        if (known === undefined) {
          this.#isLost = true;
          this.#lose();
          return;
        }
        await this.#put({ beat: this.claim.beat + 1 });
      } catch {
        // The store is unavailable for a while: no other server reaches it either, or the others notice the silence.
      }
    }
  }
}

/** Whether the other claim has priority. Of two claims that start at once, one stays. */
function goesFirst(other: Claim, own: Claim): boolean {
  return other.role !== 'starting' || other.id < own.id;
}

function nameOf({ role, host, pid }: Claim): string {
  return `${role === 'command' ? 'a command' : 'a server'} (process ${pid} on ${host})`;
}

function taken(other: Claim): PlatformError {
  const problem = `${nameOf(other)} is at work on this store, and both would run the same evaluations`;
  const advice =
    'stop it first (it gives the store to the next server within 7 s), or give this server a store of its own';
  return new PlatformError('unavailable', `${problem}; ${advice}`);
}
