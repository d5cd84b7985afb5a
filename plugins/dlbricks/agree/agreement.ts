import { type Both, type RunValue, topOf } from '../../../src/plugin-api.js';

/** Figures are null where they mean nothing. */
export interface Agreement {
  readonly isSame: boolean;
  readonly compared: number;
  readonly largest: number | null;
  readonly relative: number | null;
  readonly cosine: number | null;
  readonly top1: number | null;
  /** Share of the five largest elements of each row that are among the other side's five largest. */
  readonly top5: number | null;
  readonly reason: string | undefined;
}

const NOTHING = { isSame: false, largest: null, relative: null, cosine: null, top1: null, top5: null } as const;

type Rows = ReturnType<typeof topOf>;

function listTopRows(value: RunValue): Rows {
  return value.dims.length === 2 ? topOf(value) : [];
}

function computeSharedPart(first: Rows, second: Rows, most: number): number | null {
  if (first.length === 0 || first.length !== second.length) return null;
  const shared = first.map((row, index) => {
    const others = second[index]?.slice(0, most) ?? [];
    return row.slice(0, most).filter((position) => others.includes(position)).length;
  });
  return shared.reduce((sum, one) => sum + one, 0) / (first.length * most);
}

/** Compares the elements that were returned. Element types may differ. */
export function compareValues(first: RunValue, second: RunValue): Agreement {
  const compared = first.elements.length;
  const tops = [listTopRows(first), listTopRows(second)] as const;
  const agreed = { top1: computeSharedPart(...tops, 1), top5: computeSharedPart(...tops, 5), compared };
  if (first.dims.join() !== second.dims.join() || first.stride !== second.stride) {
    const [one, other] = [first, second].map(({ elementType, dims }) => `${elementType}[${dims.join(', ')}]`);
    return { ...NOTHING, compared: 0, reason: `${one ?? ''} on one side, ${other ?? ''} on the other` };
  }
  if (first.sha256 === second.sha256 && first.elementType === second.elementType) {
    return { ...agreed, isSame: true, largest: 0, relative: 0, cosine: 1, reason: undefined };
  }
  let largest = 0;
  let most = 0;
  let product = 0;
  let squares = 0;
  let others = 0;
  for (const [index, one] of first.elements.entries()) {
    const other = second.elements[index] ?? NaN;
    if (!Number.isFinite(one) || !Number.isFinite(other)) {
      if (Object.is(one, other)) continue;
      const reason = `element ${index * first.stride} is ${one} on one side, ${other} on the other`;
      return { ...NOTHING, compared, reason };
    }
    largest = Math.max(largest, Math.abs(one - other));
    most = Math.max(most, Math.abs(one));
    product += one * other;
    squares += one * one;
    others += other * other;
  }
  const lengths = Math.sqrt(squares) * Math.sqrt(others);
  return {
    ...agreed,
    isSame: false,
    largest,
    relative: largest === 0 ? 0 : most === 0 ? null : largest / most,
    // Rounding can take it above 1.
    cosine: lengths === 0 ? null : Math.min(1, product / lengths),
    reason: undefined,
  };
}

export function isWithinTolerance({ relative }: Agreement, tolerance: number): boolean {
  return relative !== null && relative <= tolerance;
}

/** The first value, in the order of the graph, that differs beyond the tolerance; some are compared by stand-ins. */
export function findParting(
  names: readonly string[],
  [first, second]: Both<ReadonlyMap<string, RunValue>>,
  tolerance: number,
  standIns: Both<ReadonlyMap<string, string>> = [new Map(), new Map()],
): { readonly name: string; readonly agreement: Agreement } | undefined {
  for (const name of names) {
    const one = first.get(standIns[0].get(name) ?? name);
    const other = second.get(standIns[1].get(name) ?? name);
    if (one === undefined || other === undefined) continue;
    const agreement = compareValues(one, other);
    if (!agreement.isSame && !isWithinTolerance(agreement, tolerance)) return { name, agreement };
  }
  return undefined;
}
