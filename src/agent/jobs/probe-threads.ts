import { Worker } from 'node:worker_threads';
import { maxOf } from '../../base/long-lists.js';

export interface ProbeThreadData {
  readonly shared: SharedArrayBuffer;
}

/** Shared with a thread: the numbers of requested and of answered probes, and the newest answer. */
export const SLOTS = { asked: 0, answered: 1, ns: 2 } as const;

/** Tries of one probe. An interrupt or a wait for the core may lengthen one of them. */
export const PROBE_TRIES = 3;

/** Longest wait for a thread that starts, or that gets no core. */
const MAX_WAIT_MS = 1000;

export class ProbeThreads {
  readonly #threads: Int32Array[] = [];

  ask(threads: number): void {
    while (this.#threads.length < threads) this.#threads.push(this.#start());
    for (const slots of this.#threads.slice(0, threads)) {
      Atomics.add(slots, SLOTS.asked, 1);
      Atomics.notify(slots, SLOTS.asked);
    }
  }

  /** Waits for the answers. @returns nanoseconds of the slowest one; 0 without threads, and where none answers */
  slowestNs(threads: number): number {
    return Math.max(0, maxOf(this.#threads.slice(0, threads).map(awaitAnswer)));
  }

  #start(): Int32Array {
    const shared = new SharedArrayBuffer(Object.keys(SLOTS).length * Int32Array.BYTES_PER_ELEMENT);
    const workerData: ProbeThreadData = { shared };
    new Worker(new URL('./probe-thread.js', import.meta.url), { workerData }).unref();
    return new Int32Array(shared);
  }
}

function awaitAnswer(slots: Int32Array): number {
  const asked = Atomics.load(slots, SLOTS.asked);
  const startMs = performance.now();
  for (;;) {
    const answered = Atomics.load(slots, SLOTS.answered);
    if (answered === asked) return Atomics.load(slots, SLOTS.ns);
    const leftMs = MAX_WAIT_MS - (performance.now() - startMs);
    if (leftMs <= 0) return 0;
    Atomics.wait(slots, SLOTS.answered, answered, leftMs);
  }
}
