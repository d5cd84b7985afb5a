import { nameOf } from '../../fuzz/run/finds.js';
import type { Target } from '../targets/target.js';
import { play, type PlayOptions } from './play.js';
import { schedule } from './schedule.js';

/** Number of rounds at the same time: most of a round is waiting. */
const AT_A_TIME = 2;

export interface TortureOptions extends PlayOptions {
  readonly print: (line: string) => void;
}

/** How many rounds of a target held, and how many did not. */
export interface Count {
  readonly held: number;
  readonly failed: number;
}

/**
 * Plays rounds of all targets in turn, and keeps the places of those that fail.
 *
 * @param seed of the first round; each round has the next one
 */
export async function torture(
  targets: readonly Target[],
  rounds: number,
  seed: number,
  options: TortureOptions,
): Promise<ReadonlyMap<string, Count>> {
  const counts = new Map<string, Count>(targets.map(({ name }) => [name, { held: 0, failed: 0 }]));
  const waiting = schedule(targets, rounds).entries();
  const playAll = async (): Promise<void> => {
    for (const [index, target] of waiting) {
      const one = { target: target.name, seed: seed + index };
      const failure = await play(target, one.seed, options);
      const { held, failed } = counts.get(target.name) ?? { held: 0, failed: 0 };
      counts.set(target.name, failure === undefined ? { held: held + 1, failed } : { held, failed: failed + 1 });
      if (failure === undefined) continue;
      const again = `make torture SEED=${nameOf(one)}`;
      options.print(`${nameOf(one)}: ${failure.problem}\nKept in ${failure.folder}. Again: ${again}`);
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, playAll));
  return counts;
}
