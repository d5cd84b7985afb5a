import { availableParallelism } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { PROBE_TRIES, ProbeThreads } from './probe-threads.js';
import { timeWork, warmUpWork } from './probe-work.js';

/** Number of probes after the warm-up. The fastest one gives the speed of a core that is not shared. */
const FIRST_PROBES = 50;

/**
 * A core counts as shared if a probe takes more than this many times as long as the fastest probe. A busy second
 * hyperthread makes the work 1.6 to 1.7 times as long. An interrupt or a change of the frequency makes it less than 1.1
 * times as long (docs/measuring.md).
 */
const SHARED_FROM = 1.3;

/** Time between two checks whether the runtime's threads are idle, and the most checks. */
const LOOK_MS = 5;
const MAX_LOOKS = 20;

/** Threads count as idle if they use less than this share of one core. */
const IDLE_SHARE = 0.5;

/**
 * Most time that a process loses to a shared core, in dropped runs and in waiting: a constant, plus this share of the
 * time of its other runs. Neighbours come and go within a quarter of a second to some seconds (docs/measuring.md). If a
 * core stays shared, the runs on it count.
 */
const MAX_DROPPED_MS = 2000;
const MAX_DROPPED_SHARE = 0.5;

/** Time between two probes while no model runs. */
const POLL_MS = 5;

export interface CoreProbe {
  /**
   * Times a fixed piece of work on as many cores as a runtime with this number of threads uses.
   *
   * @returns nanoseconds on the slowest of these cores
   */
  take(threads: number): Promise<number>;
  isShared(probeNs: number): boolean;
  count(runMs: number, isShared: boolean): void;
  readonly isPatient: boolean;
  /**
   * Waits until the core is no longer shared or {@link isPatient} is false. No model runs meanwhile.
   *
   * @param probeNs the newest probe before the call
   * @returns the newest probe after the wait
   */
  untilAlone(threads: number, probeNs: number): Promise<number>;
}

export const NO_PROBE: CoreProbe = {
  take: () => Promise.resolve(0),
  isShared: () => false,
  count: () => undefined,
  isPatient: false,
  untilAlone: (_threads, probeNs) => Promise.resolve(probeNs),
};

/**
 * Times a fixed piece of work between the runs of a measurement. On a virtual machine, another machine may run on the
 * second hyperthread of the same core. Then every kernel takes 1.3 times as long, and no counter of the guest shows it.
 */
export class WorkProbe implements CoreProbe {
  readonly #others = new ProbeThreads();
  #fastestNs: number | undefined;
  #isWarm = false;
  #aloneMs = 0;
  #sharedMs = 0;

  constructor(private readonly nowNs: () => bigint) {}

  /** Nanoseconds of the fastest probe on this machine that this process knows; undefined before the first one. */
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
