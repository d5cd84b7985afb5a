import { isTakenAgain, isTakenAgainWhileQuiet, type Remeasure } from '../measurement/remeasure.js';
import type { System } from '../measurement/system.js';
import type { ResultStore } from '../store/result-store.js';
import { type KnownResults, knownResults, buildWanted } from './known-results.js';
import type { Task } from './task.js';

export interface MeasuringPlan {
  readonly tasks: readonly Task[];
  /** Tasks without a stored result, and those that are taken again in any case. */
  readonly missing: readonly Task[];
  /** Tasks that are taken again while the machine is quiet. */
  readonly disturbed: readonly Task[];
}

/** Looks up stored results of some tasks, adds them to the results, and returns the tasks that are left. */
export async function planMeasuring(
  tasks: readonly Task[],
  results: KnownResults,
  { system, store, remeasure }: { readonly system: System; readonly store: ResultStore; readonly remeasure: Remeasure },
): Promise<MeasuringPlan> {
  const wanted = tasks.map(({ request }) => buildWanted(request));
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
