import { oncePer } from '../../base/once-per.js';
import { elementCount } from '../model/element-type.js';
import { listedValues } from '../model/listed-values.js';
import type { Graph, InputValues, Model, Node, Tensor } from '../model/model.js';
import { tensorBlocks } from '../write/write-model.js';

// Softmax makes denormal numbers of what a mask such as -100 hides, and many processors calculate several times as long
// with them. The mask is a constant of the file, so such values are known without a run.

/** `mask`: some numbers are so low that their exponential is denormal. `denormal`: some numbers are denormal. */
export type ValueClass = 'mask' | 'denormal';

/** The values that stand for a class, whatever the numbers in the file. */
export const CLASS_VALUES: Readonly<Record<ValueClass, InputValues>> = {
  mask: listedValues([0, -95]),
  denormal: listedValues([0.5, 1e-40]),
};

/** Below, exp() is not normal in float32 (2^-126); below the other, it is zero (2^-150). */
const DENORMAL_FROM = -87.3;
const DENORMAL_TO = -104;

const MIN_NORMAL = 2 ** -126;

/** Larger constants are weights of products; to read all of them takes time. */
const MAX_BYTES = 2 ** 20;

/** Fewer numbers of a class are not noticed in a kernel's time. */
const MIN_SHARE = 1 / 64;

const SOFTMAX = 'Softmax';

/** Operators that write the numbers that they read. */
const MOVING: ReadonlySet<string> = new Set([
  'Cast',
  'Concat',
  'Expand',
  'Flatten',
  'Gather',
  'Identity',
  'Reshape',
  'ScatterND',
  'Slice',
  'Split',
  'Squeeze',
  'Tile',
  'Transpose',
  'Unsqueeze',
  'Where',
]);

const ADDING: ReadonlySet<string> = new Set(['Add', 'Sum']);

function isSingle(tensor: Tensor | undefined): boolean {
  return tensor !== undefined && elementCount(tensor.dims) === 1;
}

function classifyValues(tensor: Tensor): ValueClass | undefined {
  const count = elementCount(tensor.dims);
  if (tensor.elementType !== 'float32' || 4 * count > MAX_BYTES) return undefined;
  let masked = 0;
  let denormal = 0;
  for (const block of tensor.data.kind === 'fill' ? [] : tensorBlocks(tensor)) {
    // A copy, because the block may begin anywhere in its buffer.
    for (const number of new Float32Array(new Uint8Array(block).buffer)) {
      if (number < DENORMAL_FROM && number > DENORMAL_TO) masked++;
      else if (number !== 0 && Math.abs(number) < MIN_NORMAL) denormal++;
    }
  }
  const least = Math.max(1, count * MIN_SHARE);
  // A Softmax does not notice what is added to all of its numbers.
  if (masked >= least && (masked < count || count === 1)) return 'mask';
  return denormal >= least ? 'denormal' : undefined;
}

/** Reads the constants, which a model has in all sizes. */
const classOfConstants = oncePer((initializers: Graph['initializers']): ReadonlyMap<string, ValueClass> => {
  const found = [...initializers].map(([name, tensor]) => [name, classifyValues(tensor)] as const);
  return new Map(found.flatMap(([name, one]) => (one === undefined ? [] : [[name, one]])));
});

/** Classes of a graph's constants, and of the values that follow from them, by name. */
export function valueClasses(graph: Graph): ReadonlyMap<string, ValueClass> {
  const classes = new Map(classOfConstants(graph.initializers));
  if (classes.size === 0) return classes;
  for (const { opType, inputs, outputs } of graph.nodes) {
    const read = new Set(
      inputs.flatMap((name) => {
        const isAddedToAll = ADDING.has(opType) && isSingle(graph.initializers.get(name));
        return isAddedToAll ? [] : (classes.get(name) ?? []);
      }),
    );
    const isMasked = read.has('mask');
    const passes = MOVING.has(opType) ? (isMasked ? 'mask' : [...read][0]) : undefined;
    const made = isMasked && opType === SOFTMAX ? 'denormal' : isMasked && ADDING.has(opType) ? 'mask' : passes;
    if (made !== undefined) for (const name of outputs) classes.set(name, made);
  }
  return classes;
}

export function withClassesOfConstants(model: Model): Model {
  const { graph } = model;
  const valuesOf = (name: string, one: ValueClass): InputValues => {
    const { low } = CLASS_VALUES[one];
    return isSingle(graph.initializers.get(name)) ? { low, high: low } : CLASS_VALUES[one];
  };
  const values = [...classOfConstants(graph.initializers)].map(([name, one]) => [name, valuesOf(name, one)] as const);
  return values.length === 0
    ? model
    : { ...model, graph: { ...graph, given: new Map([...values, ...(graph.given ?? [])]) } };
}

export function decidesTime(one: ValueClass, nodes: readonly Pick<Node, 'opType'>[]): boolean {
  return nodes.some(({ opType }) => (one === 'mask' ? opType === SOFTMAX : !MOVING.has(opType)));
}
