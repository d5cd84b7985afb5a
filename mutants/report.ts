import { type Column, drawTable, textTable } from '../src/base/text-table.js';
import { type Accepted, isAccepted } from './accepted.js';
import type { Fate } from './hunt.js';
import type { Mutant } from './mutant.js';

/** Minimum share of noticed mutants. */
export const MIN_SCORE = 0.85;

/** A mutant, and the result of running the tests against it. */
export interface Judged {
  readonly mutant: Mutant;
  readonly fate: Fate;
}

export interface TargetResult {
  readonly folder: string;
  /** All mutants of the code; a sample of them is judged. */
  readonly mutants: readonly Mutant[];
  readonly judged: readonly Judged[];
}

function described({ file, line, description }: Mutant): string {
  return `${file}:${line}: ${description}`;
}

function survivors(judged: readonly Judged[]): readonly Judged[] {
  return judged.filter(({ fate }) => fate === 'survived' || fate === 'not executed');
}

/** Survivors that are not accepted, as `src/a.ts:3: if (a < b) | a < b → a <= b`. */
export function unexpectedSurvivors(judged: readonly Judged[], accepted: Accepted): readonly string[] {
  return survivors(judged)
    .filter(({ mutant }) => !isAccepted(accepted, mutant))
    .map(({ mutant, fate }) => `${described(mutant)}${fate === 'not executed' ? ' (not executed)' : ''}`);
}

/** Mutants that count as noticed because a test did not end. On a busy machine, a reader has to look at them. */
export function stuckMutants(judged: readonly Judged[]): readonly string[] {
  return judged
    .filter(({ fate }) => fate === 'stuck')
    .map(({ mutant }) => `${described(mutant)} (noticed, because a test did not end)`);
}

/** Accepted mutants that tests now notice, or that the code no longer has. */
export function outdatedAcceptances({ mutants, judged }: TargetResult, accepted: Accepted): readonly string[] {
  const name = ({ file, description }: Mutant): string => `${file}: ${description}`;
  const all = new Set(mutants.map(name));
  const seen = new Set(judged.map(({ mutant }) => name(mutant)));
  const surviving = new Set(survivors(judged).map(({ mutant }) => name(mutant)));
  return [...new Set(mutants.map(({ file }) => file))].flatMap((file) => {
    const names = [...(accepted.get(file) ?? [])].map((description) => `${file}: ${description}`);
    return names.filter((one) => !all.has(one) || (seen.has(one) && !surviving.has(one)));
  });
}

/** The share of the judged mutants that tests noticed; accepted survivors count as survivors. 1 where there are none. */
export function score({ judged }: TargetResult): number {
  return judged.length === 0 ? 1 : 1 - survivors(judged).length / judged.length;
}

/** One row for each target. */
export function scoreTable(results: readonly TargetResult[], accepted: Accepted): string {
  const columns: readonly Column<TargetResult>[] = [
    { title: 'folder', align: 'left', cell: ({ folder }) => folder },
    { title: 'mutants', align: 'right', cell: ({ mutants }) => String(mutants.length) },
    { title: 'judged', align: 'right', cell: ({ judged }) => String(judged.length) },
    { title: 'noticed', align: 'right', cell: ({ judged }) => String(judged.length - survivors(judged).length) },
    { title: 'survived', align: 'right', cell: ({ judged }) => String(survivors(judged).length) },
    {
      title: 'accepted survivors',
      align: 'right',
      cell: ({ judged }) => String(survivors(judged).filter(({ mutant }) => isAccepted(accepted, mutant)).length),
    },
    { title: 'score', align: 'right', cell: (result) => `${(100 * score(result)).toFixed(1)} %` },
  ];
  return drawTable(textTable(columns, results));
}
