import { dirname } from 'node:path';
import { type Accepted, isAccepted } from './accepted.js';
import type { Fate } from './hunt.js';
import type { Mutant } from './mutant.js';

/** A mutant and what the tests made of it. */
export interface Judged {
  readonly mutant: Mutant;
  readonly fate: Fate;
}

function survivors(judged: readonly Judged[]): readonly Judged[] {
  return judged.filter(({ fate }) => fate !== 'killed');
}

/** Survivors that are not accepted, as `src/a.ts:3: if (a < b) | a < b → a <= b`. */
export function unexpectedSurvivors(judged: readonly Judged[], accepted: Accepted): readonly string[] {
  return survivors(judged)
    .filter(({ mutant }) => !isAccepted(accepted, mutant))
    .map(({ mutant: { file, line, description }, fate }) => {
      return `${file}:${line}: ${description}${fate === 'not executed' ? ' (not executed)' : ''}`;
    });
}

/** Accepted mutants of these files that are killed by now, or that the code does not have any more. */
export function outdatedAcceptances(judged: readonly Judged[], accepted: Accepted): readonly string[] {
  const surviving = new Set(survivors(judged).map(({ mutant }) => `${mutant.file}: ${mutant.description}`));
  const files = new Set(judged.map(({ mutant }) => mutant.file));
  return [...files].flatMap((file) => {
    return [...(accepted.get(file) ?? [])].map((one) => `${file}: ${one}`).filter((one) => !surviving.has(one));
  });
}

/** A line for each folder, as `src/rpc: 90 of 100 killed (90.0 %), 10 survivors accepted`. */
export function scores(judged: readonly Judged[], accepted: Accepted): readonly string[] {
  const folders = [...new Set(judged.map(({ mutant }) => dirname(mutant.file)))];
  return folders.map((folder) => {
    const all = judged.filter(({ mutant }) => dirname(mutant.file) === folder);
    const alive = survivors(all);
    const killed = all.length - alive.length;
    const percent = ((100 * killed) / all.length).toFixed(1);
    const allowed = alive.filter(({ mutant }) => isAccepted(accepted, mutant)).length;
    return `${folder}: ${killed} of ${all.length} killed (${percent} %), ${allowed} survivors accepted`;
  });
}
