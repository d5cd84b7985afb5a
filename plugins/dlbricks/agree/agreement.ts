import { type Both, type RunValue, topOf, groupedBy, type Model } from '../../../src/plugin-api.js';
import type { ComparedOutput } from './agreement-result.js';

type Figures = Pick<ComparedOutput, 'elements' | 'reason' | keyof typeof NO_FIGURES>;

export interface Agreement extends Figures {
  readonly isSame: boolean;
}

export const NO_FIGURES = {
  largest_difference: null,
  relative_difference: null,
  cosine: null,
  top_1: null,
  top_5: null,
};

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
  const elements = first.elements.length;
  const tops = [listTopRows(first), listTopRows(second)] as const;
  const agreed = { elements, top_1: computeSharedPart(...tops, 1), top_5: computeSharedPart(...tops, 5), reason: null };
  if (first.dims.join() !== second.dims.join() || first.stride !== second.stride) {
    const [one, other] = [first, second].map(({ elementType, dims }) => `${elementType}[${dims.join(', ')}]`);
    const reason = `${one ?? ''} on one side, ${other ?? ''} on the other`;
    return { ...NO_FIGURES, isSame: false, elements: 0, reason };
  }
  if (first.sha256 === second.sha256 && first.elementType === second.elementType) {
    return { ...agreed, isSame: true, largest_difference: 0, relative_difference: 0, cosine: 1 };
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
      return { ...NO_FIGURES, isSame: false, elements, reason };
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
    largest_difference: largest,
    relative_difference: largest === 0 ? 0 : most === 0 ? null : largest / most,
    // Rounding can take it above 1.
    cosine: lengths === 0 ? null : Math.min(1, product / lengths),
  };
}

export function isWithinTolerance({ relative_difference: relative }: Agreement, tolerance: number): boolean {
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

/**
 * For values that are quantized right away, their dequantized forms. Only those reach other layers: the value before
 * may lack an activation whose bounds are those of the quantized type.
 */
export function dequantizedNames({ graph }: Model): ReadonlyMap<string, string> {
  const inputs = graph.nodes.flatMap((node) => [...new Set(node.inputs)].map((name) => ({ name, node })));
  const readers = groupedBy(inputs, ({ name }) => name);
  const found = new Map<string, string>();
  for (const [name, reads] of readers) {
    const [{ node: quantize }] = reads;
    if (!reads.every(({ node }) => node.opType === 'QuantizeLinear')) continue;
    const back = readers.get(quantize.outputs[0] ?? '')?.find(({ node }) => node.opType === 'DequantizeLinear')?.node;
    if (back?.outputs[0] !== undefined && quantize.inputs[0] === name) found.set(name, back.outputs[0]);
  }
  return found;
}
