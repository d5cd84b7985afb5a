import { Random } from '../random.js';
import type { Target } from '../targets/target.js';

/** One input: its target, and the seed that determines it. */
export interface Case {
  readonly target: string;
  readonly seed: number;
}

const MAX_CHANGES = 5;

/** Larger inputs find no problems that smaller ones do not find. */
const MAX_BYTES = 2 ** 20;

/** The input of a case: one of the target's seeds after a few changes. The same for the same case. */
export async function inputOf(target: Target, seed: number): Promise<Uint8Array> {
  const random = new Random(seed);
  let input = random.pick(await target.seeds());
  // Mostly few changes: after many, a reader refuses nearly every input early.
  const changes = 1 + Math.min(random.below(MAX_CHANGES), random.below(MAX_CHANGES));
  for (let i = 0; i < changes && input.length < MAX_BYTES; i++) input = target.mutate(input, random);
  return input;
}
