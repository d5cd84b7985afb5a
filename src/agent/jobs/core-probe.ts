import { availableParallelism } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { PROBE_TRIES, ProbeThreads } from './probe-threads.js';
import { timeWork, warmUpWork } from './probe-work.js';

/** Probes that follow the warm-up; the fastest one is the core's own speed. */
const FIRST_PROBES = 50;

/**
 * From this much longer on, a core is taken as shared. A busy second hyperthread makes the work 1.6 to 1.7 times as long, an
 * interrupt or a step of the frequency less than 1.1 times (docs/measuring.md).
 */
const SHARED_FROM = 1.3;

/** Between two looks at whether the runtime's threads have become idle, and how long to wait for that at most. */
const [LOOK_MS, MOST_LOOKS] = [5, 20];

/** The share of one core that idle threads take at most. */
const IDLE_SHARE = 0.5;

/**
 * Time that a process loses to a shared core, in runs that it drops and in waiting: so much, and this share of the time of its
 * other runs. Neighbours come and go within a quarter of a second to some seconds (docs/measuring.md). A core that stays shared
 * is measured as it is.
 */
const [MOST_DROPPED_MS, MOST_DROPPED_SHARE] = [2000, 0.5];

/** Between two probes while nothing runs. */
const POLL_MS = 5;

/** Tells whether something that the operating system does not see slows the cores of this process. */
export interface CoreProbe {
  /** Nanoseconds of a fixed piece of work, now, on the slowest of as many cores as a runtime with so many threads uses. */
  take(threads: number): Promise<number>;
  /** Whether a probe of this duration says that a core is shared. Later probes may show that an earlier one was slow. */
  isShared(probeNs: number): boolean;
  /** Counts a run. */
  count(runMs: number, isShared: boolean): void;
  /** Whether runs on a shared core are dropped; false where that would take too long. */
  readonly isPatient: boolean;
  /**
   * Waits until the core is no longer shared, as long as it is patient. Nothing runs meanwhile.
   *
   * @param probeNs the last probe
   * @returns the last probe of all
   */
  untilAlone(threads: number, probeNs: number): Promise<number>;
}

/**
 * Times a fixed piece of work between the runs of a measurement. On a virtual machine, another machine may run on the same
 * core's second hyperthread. No counter of the guest shows it, and every kernel takes 1.3 times as long meanwhile.
 */
export class WorkProbe implements CoreProbe {
  readonly #others = new ProbeThreads();
  #fastestNs: number | undefined;
  #isWarm = false;
  #aloneMs = 0;
  #sharedMs = 0;

  constructor(private readonly nowNs: () => bigint) {}

  /** The fastest probe that is known of this machine; undefined before the first one. */
  get fastestNs(): number | undefined {
    return this.#fastestNs;
  }

  /** Takes over the fastest probe of other processes on this machine. */
  learn(fastestNs: number | undefined): void {
    if (fastestNs !== undefined) this.#fastestNs = Math.min(fastestNs, this.#fastestNs ?? Infinity);
  }

  async take(threads: number): Promise<number> {
    if (!this.#isWarm) {
      this.#isWarm = true;
      warmUpWork();
      for (let probe = 0; probe < FIRST_PROBES; probe++) this.learn(this.#time());
    }
    // More threads than cores would be neighbours of each other.
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
    return this.#sharedMs < MOST_DROPPED_MS + MOST_DROPPED_SHARE * this.#aloneMs;
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

/** Waits until the runtime's threads have stopped to wait actively for work, tens of milliseconds after a run. */
async function untilIdle(): Promise<void> {
  for (let look = 0; look < MOST_LOOKS; look++) {
    const [startMs, start] = [performance.now(), process.cpuUsage()];
    await setTimeout(LOOK_MS);
    const { user, system } = process.cpuUsage(start);
    if ((user + system) / 1000 < IDLE_SHARE * (performance.now() - startMs)) return;
  }
}
