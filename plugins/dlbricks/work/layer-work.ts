import {
  byteLengthOf,
  elementCount,
  isElementType,
  multiplyAccumulates,
  ownValue,
  type TracedTensor,
} from '../../../src/plugin-api.js';
import type { LayerFacts } from './layer-facts.js';

/** The work of a layer, which its time depends on. */
export interface LayerWork {
  /** Arithmetic operations; 0 where they are not known, or no more than one for each element moved. */
  readonly operations: number;
  readonly bytes: number;
  /** The same for each tensor, inputs first; empty where their shapes are not known. */
  readonly tensorBytes: readonly number[];
}

/** Work beyond this comes from impossible shapes and is ignored. */
const MAX_WORK = 1e24;

/** For tensors with an unknown element type. */
const BYTES_PER_ELEMENT = 4;

function bytesOf({ elementType, dims }: TracedTensor): number {
  const count = elementCount(dims);
  return elementType !== undefined && isElementType(elementType)
    ? byteLengthOf(elementType, count)
    : BYTES_PER_ELEMENT * count;
}

/** What frameworks call the operators that multiply, by a part of their name; the first match counts. */
const FOREIGN_NAMES: readonly (readonly [RegExp, string])[] = [
  [/convtranspose|conv_transpose|deconv/i, 'ConvTranspose'],
  [/conv/i, 'Conv'],
  [/gemm|matmul|linear|addmm|fullyconnected|dense/i, 'MatMul'],
];

function integerIn(attributes: LayerFacts['attributes']): (name: string) => number | undefined {
  return (name) => {
    const value = ownValue(attributes ?? {}, name);
    return typeof value === 'number' ? value : undefined;
  };
}

/** Multiply-accumulates of a layer, also by another name of its operator; 0 where they are not known. */
export function multiplyAccumulatesOf({ operator, attributes, inputs = [], outputs = [] }: LayerFacts): number {
  const shapes = (tensors: readonly TracedTensor[]): (readonly number[])[] => tensors.map(({ dims }) => dims);
  const sized = { operator, inputs: shapes(inputs), outputs: shapes(outputs), integer: integerIn(attributes) };
  const known = multiplyAccumulates(sized);
  const [, meant] = known === 0 ? (FOREIGN_NAMES.find(([name]) => name.test(operator)) ?? []) : [];
  return (meant === undefined ? known : multiplyAccumulates({ ...sized, operator: meant })) ?? 0;
}

/**
 * The work of a layer; undefined where neither its bytes nor its shapes at both ends are known, or the work is
 * impossibly large.
 */
export function countWork(facts: LayerFacts): LayerWork | undefined {
  const { inputs, outputs } = facts;
  const tensorBytes = inputs === undefined || outputs === undefined ? [] : [...inputs, ...outputs].map(bytesOf);
  const moved = tensorBytes.reduce((sum, bytes) => sum + bytes, 0);
  const bytes = facts.bytes ?? (tensorBytes.length === 0 ? undefined : moved);
  const operations = facts.operations ?? 2 * multiplyAccumulatesOf(facts);
  if (bytes === undefined || !(Math.max(moved, bytes, operations) <= MAX_WORK)) return undefined;
  return { operations, bytes, tensorBytes };
}
