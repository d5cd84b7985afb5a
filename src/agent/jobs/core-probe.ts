/** Steps of the work that a probe times: 20 to 40 µs on a current processor. */
const STEPS = 30_000;

/** Calls until the JavaScript engine has compiled the work for good. */
const WARMUP_CALLS = 300;

/** Probes that follow; the fastest one is the core's own speed. */
const FIRST_PROBES = 50;

/**
 * From this much longer on, the core is taken as shared. A busy second hyperthread makes the work 1.6 to 1.7 times as long,
 * an interrupt or a step of the frequency less than 1.1 times (docs/measuring.md).
 */
const SHARED_FROM = 1.3;

/** The results of the work, which keep the engine from leaving the work out. */
const sink = new Int32Array(1);

/** Six independent chains of integers: they occupy the execution units of a core as kernels do, and no memory. */
function work(): void {
  let [a, b, c, d, e, f] = [1, 2, 3, 4, 5, 6];
  for (let step = 0; step < STEPS; step++) {
    a = (a + step) | 0;
    b = (b ^ a) | 0;
    c = (c + step) | 0;
    d = (d ^ c) | 0;
    e = (e + step) | 0;
    f = (f ^ e) | 0;
  }
  sink[0] = a + b + c + d + e + f;
}

/** Tells whether something that the operating system does not see slows this process's core. */
export interface CoreProbe {
  /** Nanoseconds of a fixed piece of work, now. */
  take(): number;
  /** Whether a probe of this duration says that the core is shared. Later probes may show that an earlier one was slow. */
  isShared(probeNs: number): boolean;
}

/**
 * Times a fixed piece of work between the runs of a measurement. On a virtual machine, another machine may run on the same
 * core's second hyperthread. No counter of the guest shows it, and every kernel takes 1.3 times as long meanwhile.
 */
export class WorkProbe implements CoreProbe {
  #fastestNs: number | undefined;
  #isWarm = false;

  constructor(private readonly nowNs: () => bigint) {}

  /** The fastest probe that is known of this machine; undefined before the first one. */
  get fastestNs(): number | undefined {
    return this.#fastestNs;
  }

  /** Takes over what other processes on this machine have found. */
  learn(fastestNs: number | undefined): void {
    if (fastestNs !== undefined) this.#fastestNs = Math.min(fastestNs, this.#fastestNs ?? Infinity);
  }

  take(): number {
    if (!this.#isWarm) {
      this.#isWarm = true;
      for (let call = 0; call < WARMUP_CALLS; call++) work();
      for (let probe = 0; probe < FIRST_PROBES; probe++) this.take();
    }
    // Of two, since an interrupt lengthens one of them.
    const ns = Math.min(this.#timed(), this.#timed());
    this.learn(ns);
    return ns;
  }

  isShared(probeNs: number): boolean {
    return this.#fastestNs !== undefined && probeNs > this.#fastestNs * SHARED_FROM;
  }

  #timed(): number {
    const startNs = this.nowNs();
    work();
    return Number(this.nowNs() - startNs);
  }
}
