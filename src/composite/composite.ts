import { append } from '../base/long-lists.js';
import type { Benchmark, BenchmarkInput } from '../measurement/benchmark.js';
import { computeSignature } from '../measurement/weightless.js';
import { ELEMENT_TYPES, isPacked, UNPACKED } from '../onnx/model/element-type.js';
import { float, int } from '../onnx/model/make-attributes.js';
import type { DeclaredType, Model, Node, Tensor, TensorType } from '../onnx/model/model.js';
import { parseModel } from '../onnx/read/read-model.js';
import { anonymousAttributes } from '../onnx/layers/rename-subgraphs.js';
import { isStandard } from '../onnx/model/opsets.js';
import { standardNode } from '../onnx/model/standard-node.js';
import { findStaticType } from '../onnx/model/static-type.js';
import { encodeModelToBytes } from '../onnx/write/write-model.js';
import { isProducible, Producers } from './producers.js';

// A composite holds every brick as often as every other, and the runtime's own profile times each of their nodes. Each brick finds the
// same data in the caches as in a model. Its input was written right before it: by the previous brick if the shapes
// fit, else by a producer. Its output stays in the runtime's memory. Its weights were last read in the previous run.
//
// This needs a certain order of execution. ONNX Runtime executes a graph in the order of a depth-first search from its
// last nodes that follows the parent with the highest index first (Graph::ReverseDFSFrom in core/graph/graph.cc). So
// what runs first is below the node with the highest index. The list of nodes has the producers first, then the bricks,
// then the nodes that read the ends of the chains, in reverse.

export interface Composite {
  readonly benchmark: Benchmark;
  /** For each brick the names of its nodes, every time that it is in the graph. */
  readonly nodesOf: readonly (readonly string[])[];
  readonly times: number;
  /** Nodes with almost no work, one right after another, by their number of inputs; see {@link IDLE_INPUTS}. */
  readonly idleNodes: ReadonlyMap<number, readonly string[]>;
  /** Idle nodes, and those that read the shapes of outputs: they have almost no work. */
  readonly lightNodes: ReadonlySet<string>;
}

/** How often all bricks are in the graph; repeats take turns in reading weights of their own. */
export interface Repetition {
  readonly times: number;
  /** Number of repeats that have weights of their own, 1 to `times`. */
  readonly weightSets: number;
}

const ONCE: Repetition = { times: 1, weightSets: 1 };

/** The IR version of composites; bricks have the same. */
const IR_VERSION = 10;

/** An opset that has Shape, Concat, ReduceMax and Add, for bricks without a standard operator. */
const ANY_OPSET = 13;

/** A value that was written at most this many bricks ago counts as still in the caches. */
const STILL_WARM = 4;

/** Elements in a row of the tensor that fills the footprint. */
const PADDING_ROW = 1024;

const JOINED = 'joined';

/** Inputs of idle nodes, whose time shows the profile's cost: it also describes each input within a node's time. */
export const IDLE_INPUTS = [1, 4] as const;

/** So many for each number of inputs that their mean is more precise than the profile's microseconds. */
const IDLE_NODES = 16;

interface Written extends TensorType {
  readonly name: string;
  /** Index of the brick in its chain. */
  readonly at: number;
}

function sameType(one: TensorType, other: TensorType): boolean {
  return one.elementType === other.elementType && one.dims.join() === other.dims.join();
}

/** For large values of another brick, exp gives denormal numbers, up to 16 times as slow (docs/measuring.md, log). */
const EXPONENTIAL: ReadonlySet<string> = new Set([
  'Softmax',
  'Exp',
  'Sigmoid',
  'Attention',
  'MultiHeadAttention',
  'GroupQueryAttention',
]);

/** They compare values, and a processor predicts comparisons in an order that repeats: twice as fast. */
function isSorting({ opType, outputs }: Node): boolean {
  // A MaxPool that writes no places compares without branches.
  return opType === 'TopK' || (opType === 'MaxPool' && (outputs[1] ?? '') !== '');
}

function inputsOf(isReader: (node: Node) => boolean, { graph }: Model): ReadonlySet<string> {
  return new Set(graph.nodes.flatMap((node) => (isReader(node) ? node.inputs : [])));
}

/** A value of a class, such as a mask, may make outputs that are slow to read. */
function makesAnyValue({ inputs }: Benchmark): boolean {
  return !inputs.some(({ isGiven, elementType }) => isGiven === true && ELEMENT_TYPES[elementType].kind === 'float');
}

/** Values that must be positive or an index are made for the brick. */
function takesAnyValue({ role, elementType, fill, isGiven }: BenchmarkInput): boolean {
  const isFree = role === 'activation' && fill.list === undefined && isGiven !== true;
  const { kind, bits } = ELEMENT_TYPES[elementType];
  // Quantized data. No operator takes 8 bits as an index.
  if (kind === 'integer' && bits === 8) return isFree && fill.low <= 0 && fill.high >= 127;
  return isFree && kind === 'float' && fill.low < 0;
}

function takingAnyValue({ inputs }: Benchmark, model: Model, sorted: ReadonlySet<string>): ReadonlySet<string> {
  const exponents = inputsOf(({ opType }) => EXPONENTIAL.has(opType), model);
  const isFree = ({ name }: BenchmarkInput): boolean => !exponents.has(name) && !sorted.has(name);
  return new Set(inputs.flatMap((input) => (takesAnyValue(input) && isFree(input) ? [input.name] : [])));
}

interface Chain {
  length: number;
  /** Newest first. */
  written: readonly Written[];
}

/** Beginnings of the names of a brick in one place: those that all repeats share, its own, and those of its weights. */
interface Prefixes {
  readonly own: string;
  readonly prefix: string;
  readonly ofWeights: string;
}

/** A node that reads the shape of a value. Its output has the node's name. */
function shapeNode(name: string, input: string): Node {
  return standardNode(name, 'Shape', [input], [name]);
}

/** A node that concatenates `inputs` times the same few integers. Its output has the node's name. */
export function idleNode(name: string, integers: string, inputs: number): Node {
  const copies = Array.from({ length: inputs }, () => integers);
  return standardNode(name, 'Concat', copies, [name], [int('axis', 0)]);
}

/** HardSwish has no kernel in ONNX Runtime, whose profile then names no node after it. Source: its body in Operators.md. */
export function spelledOut(node: Node): readonly Node[] {
  const { name, opType, domain, inputs, outputs } = node;
  if (opType !== 'HardSwish' || !isStandard({ domain })) return [node];
  const [x = ''] = inputs;
  const gate = `${name}_gate`;
  const attributes = [float('alpha', 1 / 6), float('beta', 0.5)];
  return [
    standardNode(`${name}.gate`, 'HardSigmoid', [x], [gate], attributes),
    standardNode(`${name}.product`, 'Mul', [x, gate], outputs),
  ];
}

class CompositeBuilder {
  readonly #opsets = new Map<string, number>();
  readonly #initializers = new Map<string, Tensor>();
  readonly #fed: BenchmarkInput[] = [];
  readonly #weights: BenchmarkInput[] = [];
  readonly #producers = new Producers((input) => this.#addWeight(input));
  readonly #nodes: Node[] = [];
  #chain: Chain | undefined;
  readonly #nodesOf: string[][] = [];
  /** Names of the weights and of the inputs of the call, which repeats share. */
  readonly #placed = new Set<string>();
  /** Outputs that no brick reads, in the order in which they are written. */
  readonly #unread = new Set<string>();
  /** Outputs of packed types, for which the runtime has no Shape. */
  readonly #packed = new Set<string>();

  #addOnce(input: BenchmarkInput): void {
    if (this.#placed.has(input.name)) return;
    this.#placed.add(input.name);
    if (input.role === 'weight') this.#addWeight(input);
    else this.#fed.push(input);
  }

  #addWeight(weight: BenchmarkInput): void {
    const fill = { ...weight.fill, seed: this.#weights.length + 1 };
    this.#weights.push({ ...weight, fill });
  }

  add(brick: Benchmark, model: Model, index: number, repeat: number, weightSet: number): void {
    for (const [domain, version] of model.opsets) {
      this.#opsets.set(domain, Math.max(version, this.#opsets.get(domain) ?? 0));
    }
    const own = `b${index}`;
    const prefix = repeat === 0 ? own : `${own}r${repeat}`;
    const ofWeights = weightSet === 0 ? own : `${own}s${weightSet}`;
    const sorted = inputsOf(isSorting, model);
    const free = takingAnyValue(brick, model, sorted);
    const chain = this.#chainFor(brick, free);
    const names = this.#placeInputs(brick, chain, { own, prefix, ofWeights, free, sorted });
    const makeName = (value: string): string => (value === '' ? '' : (names.get(value) ?? `${prefix}_${value}`));
    let inner = 0;
    const freshName = (): string => `${prefix}_inner${inner++}`;
    for (const [name, tensor] of model.graph.initializers) this.#initializers.set(makeName(name), tensor);
    const named = model.graph.nodes.map((node, at): Node => {
      const attributes = anonymousAttributes(node.attributes, { nameOf: makeName, freshName });
      const ends = { inputs: node.inputs.map(makeName), outputs: node.outputs.map(makeName) };
      return { ...node, ...ends, name: `${prefix}.${at}`, attributes };
    });
    const nodes = named.flatMap(spelledOut);
    const ofBrick = (this.#nodesOf[index] ??= []);
    for (const { name } of nodes) ofBrick.push(name);
    append(this.#nodes, nodes);
    this.#keepOutputs(model, chain, makeName, makesAnyValue(brick));
  }

  /** The chain of this brick: the last chain if the brick reads an output of the previous brick, else a new one. */
  #chainFor(brick: Benchmark, free: ReadonlySet<string>): Chain {
    const last = this.#chain;
    if (last !== undefined) {
      const justWritten = last.written.filter(({ at }) => at === last.length - 1);
      const goesOn = brick.inputs.some((input) => {
        return free.has(input.name) && justWritten.some((one) => sameType(one, input));
      });
      if (goesOn) return last;
    }
    this.#chain = { length: 0, written: [] };
    return this.#chain;
  }

  /** @returns the names of the brick's inputs in the composite */
  #placeInputs(
    brick: Benchmark,
    chain: Chain,
    { own, prefix, ofWeights, free, sorted }: Prefixes & Readonly<Record<'free' | 'sorted', ReadonlySet<string>>>,
  ): ReadonlyMap<string, string> {
    const names = new Map<string, string>();
    const taken = new Set<string>();
    for (const input of brick.inputs) {
      const written = free.has(input.name)
        ? chain.written.find((one) => sameType(one, input) && !taken.has(one.name))
        : undefined;
      const isProduced = input.role === 'activation' && isProducible(input);
      const name = `${input.role === 'weight' ? ofWeights : isProduced ? prefix : own}_${input.name}`;
      names.set(input.name, written?.name ?? name);
      if (written !== undefined) {
        taken.add(written.name);
        this.#unread.delete(written.name);
      } else if (isProduced) this.#producers.produce(input, name, sorted.has(input.name) ? 'random' : 'any');
      else this.#addOnce({ ...input, name });
    }
    return names;
  }

  /** @param isOrdinary whether other bricks may read the outputs */
  #keepOutputs({ graph }: Model, chain: Chain, nameOf: (value: string) => string, isOrdinary: boolean): void {
    const outputs = graph.outputs.map((output) => ({
      name: nameOf(output),
      type: findStaticType(graph.types.get(output)),
    }));
    for (const { name, type } of outputs) {
      this.#unread.add(name);
      if (type !== undefined && isPacked(type.elementType)) this.#packed.add(name);
    }
    const at = chain.length++;
    const written = outputs.flatMap(({ name, type }) => {
      return type === undefined || !isOrdinary ? [] : [{ ...type, name, at }];
    });
    chain.written = [...written, ...chain.written].filter((one) => at - one.at < STILL_WARM);
  }

  /** @param paddingBytes additional bytes to read in every run */
  build(paddingBytes: number, times: number): Composite {
    const padding = this.#padding(paddingBytes);
    const ends = [...(padding?.outputs ?? []), ...this.#unread];
    const widened = ends.filter((end) => this.#packed.has(end));
    const to = int('to', ELEMENT_TYPES[UNPACKED].code);
    const casts = widened.map((end) => standardNode(`${end}.wide`, 'Cast', [end], [`${end}_wide`], [to]));
    const shapes = ends.map((end, index) => shapeNode(`shape${index}`, this.#packed.has(end) ? `${end}_wide` : end));
    const idleNodes = new Map(
      IDLE_INPUTS.map((inputs) => [inputs, Array.from({ length: IDLE_NODES }, (_, i) => `idle${inputs}.${i}`)]),
    );
    // The first one runs after a kernel that may have filled the caches.
    const idle = [
      idleNode('first', 'shape0', 1),
      ...[...idleNodes].flatMap(([inputs, names]) => names.map((name) => idleNode(name, 'shape0', inputs))),
    ];
    const joined = [...shapes, ...idle].flatMap(({ outputs }) => outputs);
    const join = standardNode('join', 'Concat', joined, [JOINED], [int('axis', 0)]);
    const inputs = [...this.#fed, ...this.#weights];
    const types = new Map<string, DeclaredType>(
      inputs.map(({ name, elementType, dims }) => [name, { elementType, dims }]),
    );
    types.set(JOINED, { elementType: 'int64', dims: undefined });
    const model = encodeModelToBytes({
      source: 'composite',
      irVersion: IR_VERSION,
      opsets: this.#opsets.has('') ? this.#opsets : new Map([...this.#opsets, ['', ANY_OPSET]]),
      graph: {
        name: 'composite',
        nodes: [
          ...this.#producers.nodes,
          ...(padding === undefined ? [] : [padding]),
          ...this.#nodes,
          ...casts,
          ...[...shapes, ...idle].toReversed(),
          join,
        ],
        inputs: inputs.map(({ name }) => name),
        outputs: [JOINED],
        initializers: this.#initializers,
        types,
      },
    });
    return {
      benchmark: { signature: computeSignature(model), model, inputs },
      nodesOf: this.#nodesOf,
      times,
      idleNodes,
      lightNodes: new Set([...shapes, ...idle].map(({ name }) => name)),
    };
  }

  #padding(bytes: number): Node | undefined {
    const rows = Math.round(bytes / (PADDING_ROW * Float32Array.BYTES_PER_ELEMENT));
    if (rows === 0) return undefined;
    const fill = { low: 0.5, high: 1.5, seed: 0 };
    this.#addWeight({ name: 'padding', role: 'weight', elementType: 'float32', dims: [rows, PADDING_ROW], fill });
    return standardNode('padding', 'ReduceMax', ['padding'], ['padded']);
  }
}

/**
 * Bricks that follow each other in a model follow each other here. @throws PlatformError `model` for no ONNX file
 *
 * @param paddingBytes to read in every run, so that as much data passes through the caches as in a model
 */
export function buildComposite(
  bricks: readonly Benchmark[],
  paddingBytes: number,
  { times, weightSets }: Repetition = ONCE,
): Composite {
  const builder = new CompositeBuilder();
  const parsed = bricks.map((brick) => [brick, parseModel(brick.model, 'brick')] as const);
  for (let repeat = 0; repeat < times; repeat++) {
    for (const [index, [brick, model]] of parsed.entries()) {
      builder.add(brick, model, index, repeat, repeat % weightSets);
    }
  }
  return builder.build(paddingBytes, times);
}
