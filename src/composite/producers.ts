import type { BenchmarkInput } from '../measurement/benchmark.js';
import { elementCount, ELEMENT_TYPES, hasNumbers } from '../onnx/model/element-type.js';
import { int } from '../onnx/model/make-attributes.js';
import type { Node } from '../onnx/model/model.js';
import { standardNode } from '../onnx/model/standard-node.js';

/** Smaller inputs are fed with the call: they are in the nearest cache anyway, and a node for each costs time. */
const MIN_ELEMENTS = 1024;

/**
 * Whether a node can write this input right before it is read. Such a node casts a range of float32. Given values may
 * decide how much work is done, and of sums of numbers between 0 and 1, almost all become the same integer.
 */
export function isProducible({ elementType, dims, fill, isGiven }: BenchmarkInput): boolean {
  return fill.list === undefined && isGiven !== true && hasNumbers(elementType) && elementCount(dims) >= MIN_ELEMENTS;
}

/** Where to split dimensions so that both parts together have the fewest elements. */
function findSplit(dims: readonly number[]): number {
  const elements = (split: number): number => elementCount(dims.slice(0, split)) + elementCount(dims.slice(split));
  return dims.reduce((best, _, index) => (elements(index + 1) < elements(best) ? index + 1 : best), 1);
}

/**
 * Nodes add a small column and a small row, to write much and read little. Equal inputs share both. Such sums repeat the
 * order of the row. Where the order has to be random, nodes add one number to a whole tensor of random ones.
 */
export class Producers {
  readonly nodes: Node[] = [];
  readonly #factors = new Map<string, string>();

  constructor(private readonly addWeight: (weight: BenchmarkInput) => void) {}

  produce(input: BenchmarkInput, name: string, order: 'any' | 'random' = 'any'): void {
    const { elementType, dims } = input;
    const split = order === 'random' ? dims.length : findSplit(dims);
    const column = this.#factor(
      input,
      dims.map((dim, axis) => (axis < split ? dim : 1)),
    );
    const row = this.#factor(
      input,
      dims.map((dim, axis) => (axis < split ? 1 : dim)),
    );
    const isFloat = elementType === 'float32';
    const sum = isFloat ? name : `${name}_float`;
    this.nodes.push(standardNode(`${name}.sum`, 'Add', [column, row], [sum]));
    if (isFloat) return;
    const to = int('to', ELEMENT_TYPES[elementType].code);
    this.nodes.push(standardNode(`${name}.cast`, 'Cast', [sum], [name], [to]));
  }

  /** Adds a weight with half of the input's range, so that the sum of two has the whole range. @returns its name */
  #factor({ fill }: BenchmarkInput, dims: readonly number[]): string {
    const low = fill.low / 2;
    const high = fill.high / 2;
    const key = `${low} ${high} ${dims.join()}`;
    const known = this.#factors.get(key);
    if (known !== undefined) return known;
    const name = `factor${this.#factors.size}`;
    this.#factors.set(key, name);
    this.addWeight({ name, role: 'weight', elementType: 'float32', dims, fill: { low, high, seed: 0 } });
    return name;
  }
}
