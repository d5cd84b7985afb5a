/** A choice between two layouts for each unit, with costs of units and of changing the layout between them. */
export interface LayoutProblem {
  /** Times of each unit by layout; Infinity where there is none. */
  readonly plain: readonly number[];
  readonly blocked: readonly number[];
  /** Cost where the two units have different layouts. */
  readonly changes: readonly { readonly from: number; readonly to: number; readonly cost: number }[];
}

/** Stands for a unit that has no kernel in a layout; larger than any model's time. */
const IMPOSSIBLE = 1e12;

interface Arc {
  readonly to: number;
  capacity: number;
}

/**
 * The least time of all units with the changes of layout that it needs. It is the capacity of a least cut (Ford and
 * Fulkerson), exactly.
 */
export function leastWithChanges({ plain, blocked, changes }: LayoutProblem): number {
  const [source, sink] = [plain.length, plain.length + 1];
  const arcs: Arc[] = [];
  const leaving: number[][] = Array.from({ length: plain.length + 2 }, () => []);
  const connect = (from: number, to: number, forth: number, back: number): void => {
    leaving[from]?.push(arcs.push({ to, capacity: forth }) - 1);
    leaving[to]?.push(arcs.push({ to: from, capacity: back }) - 1);
  };
  let base = 0;
  for (const [unit, plainMs] of plain.entries()) {
    const [ofPlain, ofBlocked] = [Math.min(plainMs, IMPOSSIBLE), Math.min(blocked[unit] ?? IMPOSSIBLE, IMPOSSIBLE)];
    const common = Math.min(ofPlain, ofBlocked);
    base += common;
    // A unit on the side of the source is blocked.
    connect(source, unit, ofPlain - common, 0);
    connect(unit, sink, ofBlocked - common, 0);
  }
  for (const { from, to, cost } of changes) connect(from, to, cost, cost);
  for (;;) {
    const pushed = augment(source, sink, arcs, leaving);
    if (pushed <= 0) return base;
    base += pushed;
  }
}

/** Pushes flow along one shortest path. @returns how much */
function augment(source: number, sink: number, arcs: readonly Arc[], leaving: readonly (readonly number[])[]): number {
  const cameBy = new Map<number, number>([[source, -1]]);
  const queue = [source];
  for (const at of queue) {
    for (const index of leaving[at] ?? []) {
      const arc = arcs[index];
      if (arc === undefined || arc.capacity <= 1e-12 || cameBy.has(arc.to)) continue;
      cameBy.set(arc.to, index);
      queue.push(arc.to);
    }
    if (cameBy.has(sink)) break;
  }
  if (!cameBy.has(sink)) return 0;
  const path: number[] = [];
  for (let at = sink; at !== source;) {
    const index = cameBy.get(at) ?? -1;
    path.push(index);
    at = arcs[index ^ 1]?.to ?? source;
  }
  const pushed = Math.min(...path.map((index) => arcs[index]?.capacity ?? 0));
  for (const index of path) {
    const [forth, back] = [arcs[index], arcs[index ^ 1]];
    if (forth !== undefined) forth.capacity -= pushed;
    if (back !== undefined) back.capacity += pushed;
  }
  return pushed;
}
