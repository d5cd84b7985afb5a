export interface Generation {
  readonly prompt: number;
  /** Tokens that it generates, one after another; the run for the prompt generates the first one. */
  readonly tokens: number;
}

/** Maximum number of cache lengths at which a step is estimated; between them, the latency is interpolated linearly. */
const MAX_LENGTHS = 5;

/** Lengths of the cache in all steps after the first token: each step reads the cache of all tokens before it. */
export function cacheLengths({ prompt, tokens }: Generation): readonly number[] {
  return Array.from({ length: tokens - 1 }, (_, step) => prompt + step);
}

export function sampledLengths(generation: Generation): readonly number[] {
  const all = cacheLengths(generation);
  if (all.length <= MAX_LENGTHS) return all;
  const at = (index: number): number => Math.round((index * (all.length - 1)) / (MAX_LENGTHS - 1));
  return Array.from({ length: MAX_LENGTHS }, (_, index) => all[at(index)] ?? 0);
}

export type AtLength = readonly [length: number, value: number];

/** @param samples in the order of their lengths, with those of the first and the last step */
export function sumOverSteps(samples: readonly AtLength[], generation: Generation): number {
  let next = 0;
  return cacheLengths(generation).reduce((sum, length) => {
    while (next < samples.length - 1 && (samples[next]?.[0] ?? 0) < length) next++;
    const [to, high] = samples[next] ?? [length, 0];
    const [from, low] = samples[Math.max(0, next - 1)] ?? [to, high];
    return sum + (to === from ? high : low + ((high - low) * (length - from)) / (to - from));
  }, 0);
}
