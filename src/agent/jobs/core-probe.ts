import { availableParallelism } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { PROBE_TRIES, ProbeThreads } from './probe-threads.js';
import { timeWork, warmUpWork } from './probe-work.js';

/** Number of probes after the warm-up. The fastest one gives the speed of a core that is not shared. */
const FIRST_PROBES = 50;

/** Times the fastest probe. A busy hyperthread gives 1.6 to 1.7, an interrupt less than 1.1 (docs/measuring.md). */
const SHARED_FROM = 1.3;

/** Time between two checks whether the runtime's threads are idle, and the most checks. */
const LOOK_MS = 5;
const MAX_LOOKS = 20;

/** Threads count as idle if they use less than this share of one core. */
const IDLE_SHARE = 0.5;

/** Most time lost to a shared core: a constant, plus this share of the other runs' time. Then the runs on it count. */
const MAX_DROPPED_MS = 2000;
const MAX_DROPPED_SHARE = 0.5;

const POLL_MS = 5;

export interface CoreProbe {
  /** @returns nanoseconds of fixed work on the slowest of as many cores as a runtime with these threads uses */
  take(threads: number): Promise<number>;
  isShared(probeNs: number): boolean;
  count(runMs: number, isShared: boolean): void;
  readonly isPatient: boolean;
  /** Waits until the core is no longer shared or {@link isPatient} is false. @returns the newest probe */
  untilAlone(threads: number, probeNs: number): Promise<number>;
}

export const NO_PROBE: CoreProbe = {
  take: () => Promise.resolve(0),
  isShared: () => false,
  count: () => undefined,
  isPatient: false,
  untilAlone: (_threads, probeNs) => Promise.resolve(probeNs),
};

/** Sees another machine on a core's second hyperthread, which slows kernels down; no counter of the guest shows it. */
export class WorkProbe implements CoreProbe {
  readonly #others = new ProbeThreads();
  #fastestNs: number | undefined;
  #isWarm = false;
  #aloneMs = 0;
  #sharedMs = 0;

  constructor(private readonly nowNs: () => bigint) {}

  get fastestNs(): number | undefined {
    return this.#fastestNs;
  }

  learn(fastestNs: number | undefined): void {
    if (fastestNs !== undefined) this.#fastestNs = Math.min(fastestNs, this.#fastestNs ?? Infinity);
  }

  async take(threads: number): Promise<number> {
    if (!this.#isWarm) {
      this.#isWarm = true;
      warmUpWork();
      for (let probe = 0; probe < FIRST_PROBES; probe++) this.learn(this.#time());
    }
    // More threads than cores would share cores with each other.
    const others = Math.min(threads, availableParallelism()) - 1;
    if (others > 0) await untilIdle();
    this.#others.ask(others);
    const ownNs = this.#time();
    this.learn(ownNs);
    return Math.max(ownNs, this.#others.slowestNs(others));
  }

  isShared(probeNs: number): boolean {
    return this.#fastestNs !== undefined && probeNs > this.#fastestNs * SHARED_FROM;
  }

  count(runMs: number, isShared: boolean): void {
    if (isShared) this.#sharedMs += runMs;
    else this.#aloneMs += runMs;
  }

  get isPatient(): boolean {
    return this.#sharedMs < MAX_DROPPED_MS + MAX_DROPPED_SHARE * this.#aloneMs;
  }

  async untilAlone(threads: number, probeNs: number): Promise<number> {
    let lastNs = probeNs;
    while (this.isShared(lastNs) && this.isPatient) {
      const startNs = this.nowNs();
      await setTimeout(POLL_MS);
      lastNs = await this.take(threads);
      this.count(Number(this.nowNs() - startNs) / 1e6, true);
    }
    return lastNs;
  }

  #time(): number {
    return timeWork(this.nowNs, PROBE_TRIES);
  }
}

/** Waits until the runtime's threads no longer spin. They spin for tens of milliseconds after a run. */
async function untilIdle(): Promise<void> {
  for (let look = 0; look < MAX_LOOKS; look++) {
    const startMs = performance.now();
    const start = process.cpuUsage();
    await setTimeout(LOOK_MS);
    const { user, system } = process.cpuUsage(start);
    if ((user + system) / 1000 < IDLE_SHARE * (performance.now() - startMs)) return;
  }
}
