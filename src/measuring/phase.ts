import { isTakenAgain, isTakenAgainWhileQuiet, type Remeasure } from '../measurement/remeasure.js';
import type { System } from '../measurement/system.js';
import type { ResultStore } from '../store/result-store.js';
import { type KnownResults, knownResults, wantedOf } from './known-results.js';
import type { Task } from './task.js';

/** What is measured in one go, and what of it the store had. */
export interface Phase {
  readonly tasks: readonly Task[];
  /** What the store does not have, and what is taken again in any case. */
  readonly missing: readonly Task[];
  /** What is taken again while the machine is quiet. */
  readonly disturbed: readonly Task[];
}

/** Looks up what the store has of some tasks, adds it to the results, and says what is left to do. */
export async function phaseOf(
  tasks: readonly Task[],
  results: KnownResults,
  { system, store, remeasure }: { readonly system: System; readonly store: ResultStore; readonly remeasure: Remeasure },
): Promise<Phase> {
  const wanted = tasks.map(({ request }) => wantedOf(request));
  results.add(await knownResults(wanted, system, store));
  const missing: Task[] = [];
  const disturbed: Task[] = [];
  for (const task of tasks) {
    const known = results.get(task.request);
    if (known === undefined || isTakenAgain(known, remeasure)) missing.push(task);
    else if (isTakenAgainWhileQuiet(known, remeasure)) disturbed.push(task);
  }
  return { tasks, missing, disturbed };
}
