import { type RunValue, topOf } from '../../../src/plugin-api.js';

/** How far two values agree; figures are null where they mean nothing. */
export interface Agreement {
  readonly isSame: boolean;
  readonly compared: number;
  readonly largest: number | null;
  /** The same over the largest element of the first value. */
  readonly relative: number | null;
  readonly cosine: number | null;
  /** Share of the rows with the same largest element. */
  readonly top1: number | null;
  /** Share of the five largest elements of each row that are among the other side's five largest. */
  readonly top5: number | null;
  readonly reason: string | undefined;
}

const NOTHING = { isSame: false, largest: null, relative: null, cosine: null, top1: null, top5: null } as const;

type Rows = readonly (readonly number[])[];

/** Rows of scores: an output with a batch and classes. */
function rowsOf(value: RunValue): Rows {
  return value.dims.length === 2 ? topOf(value) : [];
}

function shareOf(first: Rows, second: Rows, most: number): number | null {
  if (first.length === 0 || first.length !== second.length) return null;
  const shared = first.map((row, index) => {
    const others = second[index]?.slice(0, most) ?? [];
    return row.slice(0, most).filter((position) => others.includes(position)).length;
  });
  return shared.reduce((sum, one) => sum + one, 0) / (first.length * most);
}

function typeText({ elementType, dims }: RunValue): string {
  return `${elementType}[${dims.join(', ')}]`;
}

/** Compares two values, by their elements as far as they were returned. Element types may differ. */
export function agreementOf(first: RunValue, second: RunValue): Agreement {
  const compared = first.elements.length;
  const tops = [rowsOf(first), rowsOf(second)] as const;
  const agreed = { top1: shareOf(...tops, 1), top5: shareOf(...tops, 5), compared };
  if (first.dims.join() !== second.dims.join() || first.stride !== second.stride) {
    return { ...NOTHING, compared: 0, reason: `${typeText(first)} on one side, ${typeText(second)} on the other` };
  }
  if (first.sha256 === second.sha256 && first.elementType === second.elementType) {
    return { ...agreed, isSame: true, largest: 0, relative: 0, cosine: 1, reason: undefined };
  }
  let [largest, most, product, squares, others] = [0, 0, 0, 0, 0];
  for (const [index, one] of first.elements.entries()) {
    const other = second.elements[index] ?? NaN;
    if (Object.is(one, other)) continue;
    if (!Number.isFinite(one) || !Number.isFinite(other)) {
      return {
        ...NOTHING,
        compared,
        reason: `element ${index * first.stride} is ${one} on one side, ${other} on the other`,
      };
    }
    largest = Math.max(largest, Math.abs(one - other));
  }
  for (const [index, one] of first.elements.entries()) {
    const other = second.elements[index] ?? NaN;
    if (!Number.isFinite(one) || !Number.isFinite(other)) continue;
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

type Values = ReadonlyMap<string, RunValue>;
type Names = ReadonlyMap<string, string>;

const OWN_NAMES: readonly [Names, Names] = [new Map(), new Map()];

/**
 * Where two runs of a graph part: the first value, in the order of the graph, that differs beyond the tolerance.
 *
 * @param standIns of each side, the names of other values that are compared in the place of some
 */
export function partingOf(
  names: readonly string[],
  [first, second]: readonly [Values, Values],
  tolerance: number,
  standIns: readonly [Names, Names] = OWN_NAMES,
): { readonly name: string; readonly agreement: Agreement } | undefined {
  for (const name of names) {
    const one = first.get(standIns[0].get(name) ?? name);
    const other = second.get(standIns[1].get(name) ?? name);
    if (one === undefined || other === undefined) continue;
    const agreement = agreementOf(one, other);
    if (!agreement.isSame && !isWithinTolerance(agreement, tolerance)) return { name, agreement };
  }
  return undefined;
}
