import { append, groupedBy, mean, Z_95 } from '../../../src/plugin-api.js';
import type { Spread } from './statistics.js';

/*
 * The spread between occasions in two components (docs/measuring.md, "Occasions and intervals"). The relative deviation
 * of brick b in process p is d(p) + e(b, p): a random effect that all bricks of a process have in common, and one of
 * the brick's own. Bricks are fixed effects. Each brick is weighted by its time, as in the sum over a model.
 *
 * Estimator: Henderson's method III (1953, Biometrics 9; Searle, Casella and McCulloch, Variance Components, 1992,
 * section 5.5): the squares that processes explain and the rest, each set equal to its expectation.
 */

export interface Occurrence {
  readonly brick: string;
  readonly process: string;
  readonly ms: number;
}

/** The spread between occasions. All values are relative to latencies. */
export interface VarianceComponents {
  /** Root mean square between processes. It contains `ownShare` of the variance of `own`. */
  readonly processes: Spread;
  readonly ownShare: number;
  /** Of each brick's own in one process; 0 where processes have one brick each. */
  readonly own: Spread;
}

interface Block {
  /** For each brick: its weight, and its relative deviation in each process. */
  readonly bricks: { readonly weight: number; readonly deviations: ReadonlyMap<string, number> }[];
  readonly processes: Set<string>;
}

function groupBlocks(occurrences: readonly Occurrence[]): readonly Block[] {
  const blocks = new Set<Block>();
  const blockAt = new Map<string, Block>();
  for (const list of groupedBy(occurrences, ({ brick }) => brick).values()) {
    const weight = mean(list.map(({ ms }) => ms));
    const deviations = new Map(list.map(({ process, ms }) => [process, ms / weight - 1]));
    if (deviations.size < 2 || !(weight > 0)) continue;
    const block: Block = { bricks: [{ weight, deviations }], processes: new Set(deviations.keys()) };
    for (const joined of new Set([...deviations.keys()].flatMap((process) => blockAt.get(process) ?? []))) {
      append(block.bricks, joined.bricks);
      for (const process of joined.processes) block.processes.add(process);
      blocks.delete(joined);
    }
    blocks.add(block);
    for (const process of block.processes) blockAt.set(process, block);
  }
  return [...blocks];
}

/** Solves for the columns at the right of a positive definite matrix, in place (Gauss and Jordan). */
function solve(rows: readonly number[][]): void {
  for (const [pivot, row] of rows.entries()) {
    const diagonal = row[pivot] ?? NaN;
    for (let column = pivot; column < row.length; column++) row[column] = (row[column] ?? 0) / diagonal;
    for (const other of rows) {
      const factor = other[pivot] ?? 0;
      if (other === row || factor === 0) continue;
      for (let column = pivot; column < row.length; column++) {
        other[column] = (other[column] ?? 0) - factor * (row[column] ?? 0);
      }
    }
  }
}

/** Sums of squares of a block, and what they expect. */
interface Squares {
  /** Of all deviations from the bricks' means, and the part that processes explain. */
  readonly all: number;
  readonly explained: number;
  /** Factor of both components in the expectation of `all`, and of `own` in that of `explained`. */
  readonly weight: number;
  readonly ownInExplained: number;
  /** Sum of the squared entries of the processes' matrix, and of the bricks' squared weights. */
  readonly squaredMatrix: number;
  readonly squaredWeights: number;
}

function sumSquares({ bricks, processes }: Block): Squares {
  const at = new Map([...processes].map((process, index) => [process, index]));
  const size = processes.size;
  const square = (): number[][] => Array.from({ length: size }, () => new Array<number>(size).fill(0));
  const matrix = square();
  const ofOwn = square();
  const sums = new Array<number>(size).fill(0);
  let all = 0;
  let weights = 0;
  let squaredWeights = 0;
  for (const { weight, deviations } of bricks) {
    const count = deviations.size;
    const center = mean([...deviations.values()]);
    weights += weight * (count - 1);
    squaredWeights += weight ** 2 * (count - 1);
    const indices = [...deviations].map(([process, deviation]) => {
      const index = at.get(process) ?? 0;
      all += weight * (deviation - center) ** 2;
      sums[index] = (sums[index] ?? 0) + weight * (deviation - center);
      return index;
    });
    for (const one of indices) {
      for (const other of indices) {
        const part = (one === other ? 1 : 0) - 1 / count;
        const row = matrix[one] ?? [];
        const ownRow = ofOwn[one] ?? [];
        row[other] = (row[other] ?? 0) + weight * part;
        ownRow[other] = (ownRow[other] ?? 0) + weight ** 2 * part;
      }
    }
  }
  const squaredMatrix = matrix.flat().reduce((sum, entry) => sum + entry ** 2, 0);
  // Only differences between processes show, so the last effect is 0.
  const free = size - 1;
  const rows = matrix.slice(0, free).map((row, index) => {
    return [...row.slice(0, free), sums[index] ?? 0, ...(ofOwn[index] ?? []).slice(0, free)];
  });
  solve(rows);
  const explained = rows.reduce((sum, row, index) => sum + (sums[index] ?? 0) * (row[free] ?? 0), 0);
  const ownInExplained = rows.reduce((sum, row, index) => sum + (row[free + 1 + index] ?? 0), 0);
  return { all, explained, weight: weights, ownInExplained, squaredMatrix, squaredWeights };
}

/** @returns undefined where no brick was measured in two processes */
export function varianceComponents(occurrences: readonly Occurrence[]): VarianceComponents | undefined {
  const blocks = groupBlocks(occurrences).map(sumSquares);
  if (blocks.length === 0) return undefined;
  const sum = (of: keyof Squares): number => blocks.reduce((total, block) => total + block[of], 0);
  const weight = sum('weight');
  const ownShare = Math.min(1, sum('ownInExplained') / weight);
  const processes = {
    relative: Math.sqrt(Math.max(0, sum('explained')) / weight),
    // Satterthwaite: those of a weighted sum of squares of the processes' effects.
    degreesOfFreedom: weight ** 2 / sum('squaredMatrix'),
  };
  const rest = weight * (1 - ownShare);
  if (rest <= weight * 1e-9) return { processes, ownShare: 1, own: { relative: 0, degreesOfFreedom: 1 } };
  const own = {
    relative: Math.sqrt(Math.max(0, sum('all') - sum('explained')) / rest),
    degreesOfFreedom: Math.max(1, rest ** 2 / (sum('squaredWeights') * (1 - ownShare))),
  };
  return { processes, ownShare, own };
}

/** Standard deviation of what all bricks of a process have in common, relative. */
export function computeCommonSpread({ processes, ownShare, own }: VarianceComponents): number {
  return Math.sqrt(Math.max(0, processes.relative ** 2 - ownShare * own.relative ** 2));
}

/** Standard deviation of one brick between occasions, relative: both components together. */
export function spreadOfBrick({ processes, ownShare, own }: VarianceComponents): number {
  return Math.hypot(processes.relative, Math.sqrt(1 - ownShare) * own.relative);
}

/**
 * Whether two variances differ at the level of 5 % by the F test, in Paulson's approximation (1942, Annals of
 * Mathematical Statistics 13).
 */
function differ(one: Spread, other: Spread): boolean {
  if (one.relative === other.relative) return false;
  const root = (one.relative / other.relative) ** (2 / 3);
  if (!Number.isFinite(root)) return true;
  const a = 2 / (9 * one.degreesOfFreedom);
  const b = 2 / (9 * other.degreesOfFreedom);
  return Math.abs((1 - b) * root - (1 - a)) > Z_95 * Math.sqrt(b * root ** 2 + a);
}

export function areAlike(one: VarianceComponents, other: VarianceComponents): boolean {
  return !differ(one.processes, other.processes) && !differ(one.own, other.own);
}
