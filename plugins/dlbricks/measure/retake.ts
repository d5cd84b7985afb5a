import { setTimeout as after } from 'node:timers/promises';
import { disturbanceOf, isDisturbed, type Measurement } from '../../../src/plugin-api.js';

/** How long to wait before each further try: a compiler is done after a while. */
const WAITS_MS = [500, 2000, 4000] as const;

/** After so many series that stayed disturbed, waiting for the machine to become idle is given up. */
const MOST_IN_VAIN = 2;

/** Ends repeating of disturbed measurements on a machine that never becomes idle; one for an evaluation. */
export class RetakeLimit {
  #inVain = 0;

  get isLost(): boolean {
    return this.#inVain >= MOST_IN_VAIN;
  }

  /** A series of measurements stayed disturbed in every try. */
  lose(): void {
    this.#inVain++;
  }
}

/** Settings and callbacks of retaking. */
export interface Retaking {
  readonly patience: RetakeLimit;
  readonly signal: AbortSignal;
  /** Waits unless the signal aborts; a test's need not. */
  readonly wait?: (ms: number) => Promise<void>;
  /** Measurements are about to be taken again, since others took this share of the processors' time at most. */
  readonly onRetake: (measurements: number, disturbance: number) => void;
}

/** A measurement, and what it is of. */
interface Indexed {
  readonly index: number;
  readonly measurement: Measurement;
}

/**
 * Takes measurements, and those that others disturb again. Each is yielded as soon as it is taken, so that it can be kept,
 * and again where a less disturbed one comes. The choice is by what others did and never by the latency, so that no
 * latency is preferred.
 *
 * @param take measures what has these indices
 */
export async function* undisturbed(
  indices: readonly number[],
  take: (indices: readonly number[]) => AsyncIterable<Indexed>,
  { patience, signal, wait = (ms) => after(ms, undefined, { signal }).catch(() => undefined), onRetake }: Retaking,
): AsyncGenerator<Indexed> {
  /** The least disturbed so far of those that are disturbed. */
  const disturbed = new Map<number, Measurement>();
  for await (const taken of take(indices)) {
    if (isDisturbed(taken.measurement) && !patience.isLost) disturbed.set(taken.index, taken.measurement);
    yield taken;
  }
  for (const waitMs of WAITS_MS) {
    const before = disturbed.size;
    if (before === 0 || signal.aborted) break;
    onRetake(before, Math.max(...[...disturbed.values()].map(disturbanceOf)));
    await wait(waitMs);
    if (signal.aborted) break;
    for await (const { index, measurement } of take([...disturbed.keys()])) {
      const best = disturbed.get(index);
      if (best !== undefined && disturbanceOf(measurement) >= disturbanceOf(best)) continue;
      if (isDisturbed(measurement)) disturbed.set(index, measurement);
      else disturbed.delete(index);
      yield { index, measurement };
    }
    // Several that all stay disturbed: the machine is not about to become idle.
    if (disturbed.size === before && before > 1) break;
  }
  if (disturbed.size > 0) patience.lose();
}
