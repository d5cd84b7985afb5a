import type { Mutant } from '../../mutants/mutant.js';

/** A mutant whose description is `change`. */
export function mutantOf(change: string, file = 'src/a.ts'): Mutant {
  return { file, line: 3, description: change, module: 'src/a.js', offset: 10, text: '' };
}
