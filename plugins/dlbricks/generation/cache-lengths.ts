/** Text that a decoder makes after a prompt. */
export interface Generation {
  /** Tokens of the prompt, which the decoder reads at once. */
  readonly prompt: number;
  /** Tokens that it makes, one after another: the first one with the prompt. */
  readonly tokens: number;
}

/** Most lengths of the cache at which a step is estimated; the latency of steps between two is on a line. */
const MOST_LENGTHS = 5;

/** Lengths of the cache in all steps after the first token: each reads what was there before it. */
export function cacheLengths({ prompt, tokens }: Generation): readonly number[] {
  return Array.from({ length: tokens - 1 }, (_, step) => prompt + step);
}

/** The lengths at which a step is estimated: the first, the last, and some between. In their order. */
export function sampledLengths(generation: Generation): readonly number[] {
  const all = cacheLengths(generation);
  if (all.length <= MOST_LENGTHS) return all;
  const at = (index: number): number => Math.round((index * (all.length - 1)) / (MOST_LENGTHS - 1));
  return Array.from({ length: MOST_LENGTHS }, (_, index) => all[at(index)] ?? 0);
}

/** A value at a length of the cache. */
export type AtLength = readonly [length: number, value: number];

/**
 * The sum over all steps, with values between sampled lengths on a line.
 *
 * @param samples in the order of their lengths, the first and the last step's among them
 */
export function sumOverSteps(samples: readonly AtLength[], generation: Generation): number {
  let next = 0;
  return cacheLengths(generation).reduce((sum, length) => {
    while (next < samples.length - 1 && (samples[next]?.[0] ?? 0) < length) next++;
    const [to, high] = samples[next] ?? [length, 0];
    const [from, low] = samples[Math.max(0, next - 1)] ?? [to, high];
    return sum + (to === from ? high : low + ((high - low) * (length - from)) / (to - from));
  }, 0);
}
