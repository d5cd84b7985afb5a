import {
  computeByteLength,
  elementCount,
  isElementType,
  multiplyAccumulates,
  ownValue,
  sumOf,
  type TracedTensor,
} from '../../../src/plugin-api.js';
import type { LayerFacts } from './layer-facts.js';

/** The work of a layer, which its time depends on. */
export interface LayerWork {
  /** Arithmetic operations; 0 where they are not known, or no more than one for each element moved. */
  readonly operations: number;
  readonly bytes: number;
}

/** Work beyond this comes from impossible shapes and is ignored. */
const MAX_WORK = 1e24;

/** For tensors with an unknown element type. */
const BYTES_PER_ELEMENT = 4;

function countBytes({ elementType, dims }: TracedTensor): number {
  const count = elementCount(dims);
  return elementType !== undefined && isElementType(elementType)
    ? computeByteLength(elementType, count)
    : BYTES_PER_ELEMENT * count;
}

/** What frameworks call the operators that multiply, by a part of their name; the first match counts. */
const FOREIGN_NAMES: readonly (readonly [RegExp, string])[] = [
  [/convtranspose|conv_transpose|deconv/i, 'ConvTranspose'],
  [/conv/i, 'Conv'],
  [/gemm|matmul|linear|addmm|fullyconnected|dense/i, 'MatMul'],
];

/** Multiply-accumulates of a layer, also by another name of its operator; 0 where they are not known. */
export function countMultiplyAccumulates({ operator, attributes, inputs = [], outputs = [] }: LayerFacts): number {
  const shapes = (tensors: readonly TracedTensor[]): (readonly number[])[] => tensors.map(({ dims }) => dims);
  const integer = (name: string): number | undefined => {
    const value = ownValue(attributes ?? {}, name);
    return typeof value === 'number' ? value : undefined;
  };
  const sized = { operator, inputs: shapes(inputs), outputs: shapes(outputs), integer };
  const known = multiplyAccumulates(sized);
  const [, meant] = known === 0 ? (FOREIGN_NAMES.find(([name]) => name.test(operator)) ?? []) : [];
  return (meant === undefined ? known : multiplyAccumulates({ ...sized, operator: meant })) ?? 0;
}

/** undefined where neither its bytes nor its shapes at both ends are known, or the work is impossibly large. */
export function countWork(facts: LayerFacts): LayerWork | undefined {
  const { inputs, outputs } = facts;
  const tensors = inputs === undefined || outputs === undefined ? [] : [...inputs, ...outputs];
  const moved = sumOf(tensors.map(countBytes));
  const bytes = facts.bytes ?? (tensors.length === 0 ? undefined : moved);
  const operations = facts.operations ?? 2 * countMultiplyAccumulates(facts);
  if (bytes === undefined || !(Math.max(moved, bytes, operations) <= MAX_WORK)) return undefined;
  return { operations, bytes };
}
