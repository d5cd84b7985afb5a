import { setTimeout as after } from 'node:timers/promises';
import { maxOf } from '../base/long-lists.js';
import { isUnderLoad, computeOtherLoad } from '../measurement/disturbance.js';
import type { Measurement } from '../measurement/measurement.js';

/** Pauses before the retries. They are long enough for a short build to end. */
const WAITS_MS = [500, 2000, 4000] as const;

/** After this many series that stay disturbed, measurements are not repeated any more. */
const MAX_VAIN_REPEATS = 2;

/** Ends repetitions on a machine that is never idle. An evaluation has one for each system. */
export class RetakeLimit {
  #inVain = 0;

  /** @param most 0 to repeat nothing */
  constructor(private readonly most = MAX_VAIN_REPEATS) {}

  get isReached(): boolean {
    return this.#inVain >= this.most;
  }

  /** Counts a series of measurements that stays disturbed in every try. */
  count(): void {
    this.#inVain++;
  }
}

export interface Retaking {
  readonly limit: RetakeLimit;
  readonly signal: AbortSignal;
  /** Waits for a time or until the signal aborts; injected by tests. */
  readonly wait?: (ms: number) => Promise<void>;
  /** Called before measurements are repeated, with the largest share of the processors' time that others took. */
  readonly onRetake: (measurements: number, disturbance: number) => void;
}

interface Indexed {
  readonly index: number;
  readonly measurement: Measurement;
}

/**
 * Repeats what other processes disturbed, and yields every less disturbed result as it is taken. Only the load decides,
 * never a latency. The agent has already waited for a shared core. @param take measures requests with these indices
 */
export async function* undisturbed(
  indices: readonly number[],
  take: (indices: readonly number[]) => AsyncIterable<Indexed>,
  { limit, signal, wait = (ms) => after(ms, undefined, { signal }).catch(() => undefined), onRetake }: Retaking,
): AsyncGenerator<Indexed> {
  /** The least disturbed measurement so far of each index that needs repeating. */
  const disturbed = new Map<number, Measurement>();
  for await (const taken of take(indices)) {
    if (isUnderLoad(taken.measurement) && !limit.isReached) disturbed.set(taken.index, taken.measurement);
    yield taken;
  }
  for (const waitMs of WAITS_MS) {
    const before = disturbed.size;
    if (before === 0 || signal.aborted) break;
    onRetake(before, maxOf([...disturbed.values()].map(computeOtherLoad)));
    await wait(waitMs);
    if (signal.aborted) break;
    for await (const { index, measurement } of take([...disturbed.keys()])) {
      const best = disturbed.get(index);
      if (best !== undefined && computeOtherLoad(measurement) >= computeOtherLoad(best)) continue;
      if (isUnderLoad(measurement)) disturbed.set(index, measurement);
      else disturbed.delete(index);
      yield { index, measurement };
    }
    // Several measurements that all stay disturbed show that the machine stays busy.
    if (disturbed.size === before && before > 1) break;
  }
  if (disturbed.size > 0) limit.count();
}
