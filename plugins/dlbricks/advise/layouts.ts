import { minOf } from '../../../src/plugin-api.js';

export interface LayoutProblem {
  /** Times of each unit by layout; Infinity where there is none. */
  readonly plain: readonly number[];
  readonly blocked: readonly number[];
  /** Cost where the two units have different layouts. */
  readonly changes: readonly { readonly from: number; readonly to: number; readonly cost: number }[];
}

/** Stands for a unit that has no kernel in a layout; larger than any model's time. */
const IMPOSSIBLE = 1e12;

/** The least time of all units with their changes of layout: the capacity of a least cut (Ford and Fulkerson). */
export function leastWithChanges({ plain, blocked, changes }: LayoutProblem): number {
  const source = plain.length;
  const sink = plain.length + 1;
  const arcs: { readonly to: number; capacity: number }[] = [];
  const leaving: number[][] = Array.from({ length: plain.length + 2 }, () => []);
  const connect = (from: number, to: number, forth: number, back: number): void => {
    leaving[from]?.push(arcs.push({ to, capacity: forth }) - 1);
    leaving[to]?.push(arcs.push({ to: from, capacity: back }) - 1);
  };
  let base = 0;
  for (const [unit, plainMs] of plain.entries()) {
    const ofPlain = Math.min(plainMs, IMPOSSIBLE);
    const ofBlocked = Math.min(blocked[unit] ?? IMPOSSIBLE, IMPOSSIBLE);
    const common = Math.min(ofPlain, ofBlocked);
    base += common;
    connect(source, unit, ofPlain - common, 0);
    connect(unit, sink, ofBlocked - common, 0);
  }
  for (const { from, to, cost } of changes) connect(from, to, cost, cost);
  for (;;) {
    // Flow is pushed along one shortest path at a time.
    const cameBy = new Map<number, number>([[source, -1]]);
    for (const at of cameBy.keys()) {
      for (const index of leaving[at] ?? []) {
        const arc = arcs[index];
        if (arc !== undefined && arc.capacity > 1e-12 && !cameBy.has(arc.to)) cameBy.set(arc.to, index);
      }
      if (cameBy.has(sink)) break;
    }
    if (!cameBy.has(sink)) return base;
    const path: number[] = [];
    for (let at = sink; at !== source;) {
      const index = cameBy.get(at) ?? -1;
      path.push(index);
      at = arcs[index ^ 1]?.to ?? source;
    }
    const pushed = minOf(path.map((index) => arcs[index]?.capacity ?? 0));
    for (const index of path) {
      const forth = arcs[index];
      const back = arcs[index ^ 1];
      if (forth !== undefined) forth.capacity -= pushed;
      if (back !== undefined) back.capacity += pushed;
    }
    base += pushed;
  }
}
