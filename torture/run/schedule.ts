import type { Target } from '../targets/target.js';

/** The target of each round. In every sequence of rounds, each target has about its share. */
export function schedule(targets: readonly Target[], rounds: number): readonly Target[] {
  const total = targets.reduce((sum, { share }) => sum + share, 0);
  const had = new Map<Target, number>();
  return Array.from({ length: total === 0 ? 0 : rounds }, (_, round) => {
    const behind = ({ share }: Target, count: number): number => ((round + 1) * share) / total - count;
    const next = targets.reduce((worst, target) =>
      behind(target, had.get(target) ?? 0) > behind(worst, had.get(worst) ?? 0) ? target : worst,
    );
    had.set(next, (had.get(next) ?? 0) + 1);
    return next;
  });
}
