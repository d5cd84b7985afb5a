import { Random } from '../random.js';
import type { Target } from '../targets/target.js';

/** One input: which target's, and the seed that it follows from. */
export interface Case {
  readonly target: string;
  readonly seed: number;
}

const MOST_CHANGES = 5;

/** Larger inputs say nothing that smaller ones do not. */
const MOST_BYTES = 2 ** 20;

/** The input of a case: one of the target's seeds after a few changes. The same for the same case. */
export async function inputOf(target: Target, seed: number): Promise<Uint8Array> {
  const random = new Random(seed);
  let input = random.pick(await target.seeds());
  // Mostly few: after many, hardly anything is read to its end.
  const changes = 1 + Math.min(random.below(MOST_CHANGES), random.below(MOST_CHANGES));
  for (let i = 0; i < changes && input.length < MOST_BYTES; i++) input = target.mutate(input, random);
  return input;
}
