import { createHash } from 'node:crypto';
import type { Mutant } from './mutant.js';

/**
 * Chooses mutants by a hash of the seed and the mutant. A mutant's hash does not depend on other mutants, so that a change of
 * the code changes few mutants of the sample.
 *
 * @returns at most `size` mutants, in the order of the list
 */
export function sampleOf(mutants: readonly Mutant[], size: number, seed: number): readonly Mutant[] {
  const hashed = mutants.map((mutant, index) => {
    const hash = createHash('sha256').update(`${seed} ${mutant.file} ${mutant.description}`).digest('hex');
    return { mutant, index, hash };
  });
  hashed.sort((a, b) => (a.hash < b.hash ? -1 : a.hash > b.hash ? 1 : a.index - b.index));
  return hashed
    .slice(0, size)
    .sort((a, b) => a.index - b.index)
    .map(({ mutant }) => mutant);
}
