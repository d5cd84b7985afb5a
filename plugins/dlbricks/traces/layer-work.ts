import { byteLengthOf, elementCount, isElementType, type TracedTensor } from '../../../src/plugin-api.js';
import type { LayerFacts } from './match-level.js';

export interface LayerWork {
  /** Arithmetic operations; 0 where they are not known, or no more than one for each element moved. */
  readonly operations: number;
  readonly bytes: number;
  /** The same for each tensor, inputs first; empty where their shapes are not known. */
  readonly tensorBytes: readonly number[];
}

/** Work beyond this comes from impossible shapes and is ignored. */
const MOST_WORK = 1e24;

/** For tensors with an unknown element type. */
const BYTES_PER_ELEMENT = 4;

function bytesOf({ elementType, dims }: TracedTensor): number {
  const count = elementCount(dims);
  return elementType !== undefined && isElementType(elementType)
    ? byteLengthOf(elementType, count)
    : BYTES_PER_ELEMENT * count;
}

/** Multiplications of operators with weights, by a part of their name; the first match counts. */
const MULTIPLICATIONS: readonly (readonly [
  RegExp,
  (input: TracedTensor, weight: TracedTensor, output: TracedTensor) => number,
])[] = [
  // Weights are [input channels, output channels, …]. Count: input elements times all weight dimensions but the first.
  [
    /convtranspose|conv_transpose|deconv/i,
    ({ dims }, weight) => elementCount(dims) * elementCount(weight.dims.slice(1)),
  ],
  // Weights are [output channels, input channels, …]. Count: output elements times all weight dimensions but the first.
  [/conv/i, (_input, weight, { dims }) => elementCount(dims) * elementCount(weight.dims.slice(1))],
  [
    /gemm|matmul|linear|addmm|fullyconnected|dense/i,
    (input, _weight, { dims }) => elementCount(dims) * (input.dims.at(-1) ?? 0),
  ],
];

function operationsOf({ operator, inputs = [], outputs = [] }: LayerFacts): number {
  const [input, weight] = inputs;
  const [output] = outputs;
  if (input === undefined || weight === undefined || output === undefined) return 0;
  const [, multiplications] = MULTIPLICATIONS.find(([name]) => name.test(operator)) ?? [];
  // Each multiplication comes with one addition.
  return multiplications === undefined ? 0 : 2 * multiplications(input, weight, output);
}

/**
 * The work of a layer; undefined where neither its bytes nor its shapes at both ends are known, or the work is
 * impossibly large.
 */
export function workOf(facts: LayerFacts): LayerWork | undefined {
  const { inputs, outputs } = facts;
  const tensorBytes = inputs === undefined || outputs === undefined ? [] : [...inputs, ...outputs].map(bytesOf);
  const moved = tensorBytes.reduce((sum, bytes) => sum + bytes, 0);
  const bytes = facts.bytes ?? (tensorBytes.length === 0 ? undefined : moved);
  const operations = facts.operations ?? operationsOf(facts);
  if (bytes === undefined || !(Math.max(moved, bytes, operations) <= MOST_WORK)) return undefined;
  return { operations, bytes, tensorBytes };
}
