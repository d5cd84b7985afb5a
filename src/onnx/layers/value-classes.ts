import { oncePer } from '../../base/once-per.js';
import { constantValues } from '../model/constant-values.js';
import { elementCount, tensorBytes } from '../model/element-type.js';
import { fromFloat16Bits } from '../model/float16.js';
import { listedValues } from '../model/listed-values.js';
import type { Graph, InputValues, Model, Node, Tensor } from '../model/model.js';
import { tensorBlocks } from '../write/write-model.js';

// Softmax makes denormal numbers of what a mask such as -100 hides, and many processors calculate several times as long
// with them. Lower masks give zeros, but some processors need several times as long for these as well. The mask follows
// from constants of the file, so such values are known without a run.

/**
 * `mask`: some numbers are so low that their exponential is denormal. `hidden`: some are so low that it is zero.
 * `denormal`: some numbers are denormal.
 */
export type ValueClass = 'mask' | 'hidden' | 'denormal';

/** `lowest`: all numbers are so low that their exponential is zero. `condition`: some are true or 1, others 0. */
type Trait = ValueClass | 'lowest' | 'condition';

/** The values that stand for a class, whatever the numbers in the file. */
export const CLASS_VALUES: Readonly<Record<ValueClass, InputValues>> = {
  mask: listedValues([0, -95]),
  // In runs, as a causal mask has them: one such number makes the whole vector of a processor slow.
  hidden: listedValues(Array.from({ length: 128 }, (_, at) => (at < 64 ? 0 : -1000))),
  denormal: listedValues([0.5, 1e-40]),
};

/** The same for what masks are made of. */
const VALUES: Readonly<Record<Trait, InputValues>> = {
  ...CLASS_VALUES,
  lowest: listedValues([-1000]),
  condition: listedValues(Array.from({ length: 128 }, (_, at) => (at < 64 ? 1 : 0))),
};

/** Below, exp() is not normal in float32 (2^-126); below the other, it is zero (2^-150). */
const DENORMAL_FROM = -87.3;
const DENORMAL_TO = -104;

const MIN_NORMAL = 2 ** -126;

/** Larger constants are weights of products; to read all of them takes time. */
const MAX_BYTES = 2 ** 20;

const CLASSIFIED: ReadonlySet<string> = new Set(['float16', 'float32', 'bool', 'uint8']);

/** Fewer numbers of a class are not noticed in a kernel's time. */
const MIN_SHARE = 1 / 64;

const SOFTMAX = 'Softmax';

/** Operators that compute exponentials of a value that is masked, or to which a mask is added. */
const EXPONENTIAL: ReadonlySet<string> = new Set([SOFTMAX, 'LogSoftmax', 'Exp', 'Attention', 'MultiHeadAttention']);

/** Of places in a sequence, as a causal mask has them. */
const COMPARISONS: ReadonlySet<string> = new Set(['Greater', 'GreaterOrEqual', 'Less', 'LessOrEqual']);

/** Of a condition, they make another one. */
const LOGICAL: ReadonlySet<string> = new Set(['And', 'Not', 'Sub']);

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

/** What the runtime calls a value of float16 that it calculates in float32. */
const IN_FLOAT32 = 'InsertedPrecisionFreeCast_';

function isSingle(tensor: Tensor | undefined): boolean {
  return tensor !== undefined && elementCount(tensor.dims) === 1;
}

function* blocksOfNumbers(tensor: Tensor): Generator<Uint8Array | Float32Array> {
  for (const block of tensor.data.kind === 'fill' ? [] : tensorBlocks(tensor)) {
    // A copy, because the block may begin anywhere in its buffer.
    const { buffer } = new Uint8Array(block);
    if (tensor.elementType === 'float16') yield Float32Array.from(new Uint16Array(buffer), fromFloat16Bits);
    else yield tensor.elementType === 'float32' ? new Float32Array(buffer) : block;
  }
}

function classifyValues(tensor: Tensor): Trait | undefined {
  const { elementType, dims } = tensor;
  const count = elementCount(dims);
  if (!CLASSIFIED.has(elementType) || tensorBytes(tensor) > MAX_BYTES) return undefined;
  const found = { masked: 0, lowest: 0, denormal: 0, zeros: 0, ones: 0 };
  for (const block of blocksOfNumbers(tensor)) {
    for (const number of block) {
      if (number === 0) found.zeros++;
      else if (number === 1) found.ones++;
      else if (number <= DENORMAL_TO) found.lowest++;
      else if (number < DENORMAL_FROM) found.masked++;
      else if (Math.abs(number) < MIN_NORMAL) found.denormal++;
    }
  }
  const least = Math.max(1, count * MIN_SHARE);
  const { masked, lowest, denormal, zeros, ones } = found;
  // A Softmax does not notice what is added to all of its numbers.
  if (masked >= least && (masked < count || count === 1)) return 'mask';
  if (lowest >= least) return lowest < count ? 'hidden' : 'lowest';
  if (zeros + ones === count && zeros >= least && ones >= least) return 'condition';
  return denormal >= least ? 'denormal' : undefined;
}

/** Reads the constants, which a model has in all sizes. */
const traitsOfConstants = oncePer((initializers: Graph['initializers']): ReadonlyMap<string, Trait> => {
  const found = [...initializers].map(([name, tensor]) => [name, classifyValues(tensor)] as const);
  return new Map(found.flatMap(([name, one]) => (one === undefined ? [] : [[name, one]])));
});

function onlyClasses(traits: ReadonlyMap<string, Trait>): ReadonlyMap<string, ValueClass> {
  return new Map(
    [...traits].flatMap(([name, one]) => (one === 'lowest' || one === 'condition' ? [] : [[name, one] as const])),
  );
}

/** Where a mask is made of a condition and a number. */
function makesHidden(opType: string, read: ReadonlySet<Trait>): boolean {
  if (!read.has('lowest')) return false;
  return opType === 'Trilu' || ((opType === 'Where' || opType === 'Mul') && read.has('condition'));
}

function traitOfOutputs(opType: string, read: ReadonlySet<Trait>): Trait | undefined {
  const slowest = (['mask', 'hidden', 'denormal'] as const).find((one) => read.has(one));
  if (makesHidden(opType, read)) return slowest === 'mask' ? 'mask' : 'hidden';
  if (slowest === 'mask' && (opType === SOFTMAX || opType === 'Exp')) return 'denormal';
  if (ADDING.has(opType)) return slowest === 'denormal' ? undefined : slowest;
  if (opType === 'Sub' && (slowest === 'mask' || slowest === 'hidden')) return slowest;
  if (opType === 'Trilu') return slowest ?? 'condition';
  if ((opType === 'Mul' || opType === 'Div') && slowest === 'denormal') return slowest;
  if (MOVING.has(opType)) return slowest ?? (opType === 'Where' ? undefined : [...read][0]);
  return LOGICAL.has(opType) && read.has('condition') ? 'condition' : undefined;
}

interface Followed {
  readonly classes: ReadonlyMap<string, ValueClass>;
  /** What masks are made of: constants that are conditions or so low that they hide. */
  readonly parts: ReadonlyMap<string, 'lowest' | 'condition'>;
}

const NOTHING: Followed = { classes: new Map(), parts: new Map() };

const followed = oncePer((graph: Graph): Followed => {
  const ofConstants = traitsOfConstants(graph.initializers);
  // A condition alone hides nothing.
  if ([...ofConstants.values()].every((one) => one === 'condition')) return NOTHING;
  const traits = new Map(ofConstants);
  const { produced, fromShapes } = constantValues(graph);
  const isKnown = (name: string): boolean => graph.initializers.has(name) || produced.has(name) || fromShapes.has(name);
  const hiding = new Set<Node>();
  for (const node of graph.nodes) {
    const { opType, inputs, outputs } = node;
    const read = new Set(
      inputs.flatMap((name) => {
        const isAddedToAll = ADDING.has(opType) && isSingle(graph.initializers.get(name));
        return isAddedToAll ? [] : (traits.get(name) ?? []);
      }),
    );
    if (makesHidden(opType, read)) hiding.add(node);
    const compares = COMPARISONS.has(opType) && inputs.every(isKnown);
    const made = compares ? 'condition' : traitOfOutputs(opType, read);
    if (made !== undefined) for (const name of outputs) traits.set(name, made);
  }
  const leading = new Set<string>();
  for (const node of graph.nodes.toReversed()) {
    const leads = hiding.has(node) || node.outputs.some((name) => leading.has(name));
    if (leads) for (const name of node.inputs) leading.add(name);
  }
  const parts = [...ofConstants].flatMap(([name, one]) => {
    return leading.has(name) && (one === 'lowest' || one === 'condition') ? [[name, one] as const] : [];
  });
  return { classes: onlyClasses(traits), parts: new Map(parts) };
});

/** Classes of a graph's constants, and of the values that follow from them, by name. */
export function valueClasses(graph: Graph): ReadonlyMap<string, ValueClass> {
  return followed(graph).classes;
}

/**
 * Of the layers that the runtime makes of a graph: where it calculates values of float16 in float32, they have other
 * names, and a Softmax is several kernels.
 */
export function classesInFloat32(
  layers: readonly Node[],
  ofSource: ReadonlyMap<string, ValueClass>,
): ReadonlyMap<string, ValueClass> {
  const traits = new Map<string, Trait>(ofSource);
  for (const { opType, inputs, outputs } of layers) {
    for (const name of inputs) {
      const one = name.startsWith(IN_FLOAT32) ? traits.get(name.slice(IN_FLOAT32.length)) : undefined;
      if (one !== undefined && !traits.has(name)) traits.set(name, one);
    }
    const made = traitOfOutputs(opType, new Set(inputs.flatMap((name) => traits.get(name) ?? [])));
    const inFloat32 = outputs.filter((name) => name.startsWith(IN_FLOAT32));
    if (made !== undefined) for (const name of inFloat32) traits.set(name, made);
  }
  return onlyClasses(traits);
}

/** Made-up values of a constant of this class. */
export function valuesOfClass(one: Trait, constant: Tensor | undefined): InputValues {
  const { low } = VALUES[one];
  return isSingle(constant) ? { low, high: low } : VALUES[one];
}

/** Constants that hide something, or slow kernels down, do so with made-up values, too. */
export function withClassesOfConstants(model: Model): Model {
  const { graph } = model;
  const { classes, parts } = followed(graph);
  const values = [...classes, ...parts].flatMap(([name, one]) => {
    const constant = graph.initializers.get(name);
    return constant === undefined ? [] : [[name, valuesOfClass(one, constant)] as const];
  });
  return values.length === 0
    ? model
    : { ...model, graph: { ...graph, given: new Map([...values, ...(graph.given ?? [])]) } };
}

export function decidesTime(one: ValueClass, nodes: readonly Pick<Node, 'opType'>[]): boolean {
  return nodes.some(({ opType }) => (one === 'denormal' ? !MOVING.has(opType) : EXPONENTIAL.has(opType)));
}
