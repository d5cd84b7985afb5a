import {
  anonymousAttributes,
  type Benchmark,
  type BenchmarkInput,
  type DeclaredType,
  isPacked,
  type Model,
  type Node,
  staticTypeOf,
  type TensorType,
} from '../../../src/plugin-api.js';
import { brickModel } from '../cut/brick-model.js';
import { readsLittleButWeights, weightShare } from '../cut/rough-time.js';
import type { Brick } from './brick.js';
import { emptyCall, type PackedValues } from './empty-call.js';
import { ANY_OPSET, buildBenchmark, JOINED, joinNode, shapeNodes } from './shapes-only.js';

// For runtimes without a profile. A brick on its own runs differently from a brick inside a model: its weights stay in
// the cache between two runs, its outputs leave the runtime's memory arena for fresh pages, and the cost of the call
// counts in full. In context it is measured as several copies in one graph, each with weights of its own, all outputs
// consumed by a Shape node, so that nothing but a few integers leaves. A baseline without the copies measures the cost
// of the Shape nodes (of a Cast as well, where values are of 2 or 4 bits) and of the call, which is subtracted.

export interface BrickCopies {
  readonly copies: number;
  readonly benchmark: Benchmark;
  readonly baseline: Benchmark;
}

/** A brick, and the copies of it that are measured instead. Without copies, the brick itself is measured. */
export interface MeasurableBrick extends Brick {
  readonly copies?: BrickCopies | undefined;
}

function seedOfCopy(input: BenchmarkInput, copy: number): number {
  return input.fill.seed + copy * 65_537;
}

/** The first opset that has all packed types. Source: Cast in the ONNX project's Operators.md. */
const PACKED_OPSET = 25;

/** Outputs of packed types, as far as their sizes are known. */
function packedOutputs({ graph }: Model): readonly TensorType[] {
  return graph.outputs.flatMap((output) => {
    const type = staticTypeOf(graph.types.get(output));
    return type !== undefined && isPacked(type.elementType) ? [type] : [];
  });
}

function opsetOf(source: Model): number {
  return source.opsets.get('') ?? (packedOutputs(source).length > 0 ? PACKED_OPSET : ANY_OPSET);
}

function packedOf(source: Model, copies: number): PackedValues | undefined {
  const types = packedOutputs(source);
  if (types.length === 0) return undefined;
  const all = Array.from({ length: copies }, () => types).flat();
  return { types: all, irVersion: source.irVersion, opset: opsetOf(source) };
}

/** The brick `copies` times in one graph; activations are shared, weights are not. */
function copiesOf(brick: Brick, source: Model, copies: number): Benchmark {
  const { graph } = source;
  const activations = brick.inputs.filter(({ role }) => role === 'activation');
  const weights = brick.inputs.filter(({ role }) => role === 'weight');
  const shared = new Set(['', ...activations.map(({ name }) => name), ...graph.initializers.keys()]);

  const nodes: Node[] = [];
  const shapes: string[] = [];
  const copiedWeights: BenchmarkInput[] = [];
  let inner = 0;
  const freshName = (): string => `inner${inner++}`;
  for (let copy = 0; copy < copies; copy++) {
    const nameOf = (value: string): string => (copy === 0 || shared.has(value) ? value : `${value}_${copy}`);
    for (const weight of weights) {
      const fill = { ...weight.fill, seed: seedOfCopy(weight, copy) };
      copiedWeights.push({ ...weight, name: nameOf(weight.name), fill });
    }
    for (const node of graph.nodes) {
      // A branch of an If reads its copy's values too.
      const attributes = anonymousAttributes(node.attributes, { nameOf, freshName });
      nodes.push({ ...node, inputs: node.inputs.map(nameOf), outputs: node.outputs.map(nameOf), attributes });
    }
    for (const output of graph.outputs) {
      const shape = `shape${shapes.length}`;
      nodes.push(...shapeNodes(nameOf(output), shape, graph.types.get(output)?.elementType));
      shapes.push(shape);
    }
  }
  const inputs = [...activations, ...copiedWeights];
  const types = new Map<string, DeclaredType>(
    inputs.map(({ name, elementType, dims }) => [name, { elementType, dims }]),
  );
  types.set(JOINED, { elementType: 'int64', dims: undefined });
  const model = {
    ...source,
    opsets: new Map([...source.opsets, ['', opsetOf(source)]]),
    graph: {
      ...graph,
      nodes: [...nodes, joinNode(shapes)],
      inputs: inputs.map(({ name }) => name),
      outputs: [JOINED],
      types,
    },
  };
  return buildBenchmark(model, inputs);
}

/** The counts of copies in use. They are few, so that bricks share baselines. */
const STEPS = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48] as const;

export const MAX_COPIES = Math.max(...STEPS);

/**
 * Copies are added until a run takes at least this long, in rough milliseconds, so that the call is a small part of it.
 */
const MIN_RUN_ROUGH_MS = 2;

/** Copies never make a run longer than this, in rough milliseconds: longer runs cost more and are not more precise. */
const MAX_RUN_ROUGH_MS = 120;

/**
 * Where reading the weights takes less than this share of a brick's time, it does not matter which cache holds them.
 */
const NOTEWORTHY_SHARE = 0.01;

/** Footprints of more than this many caches all count as equally cold. */
const CACHES = 1.5;

/** The same limit for bricks that mostly read weights: a cache keeps some weights however many pass through it. */
const CACHES_OF_DOMINANT_WEIGHTS = 8;

/**
 * For bricks that mostly read weights, copies fill only this share of the footprint. Using more memory than the model
 * does is slower (the reach of the processor's page tables), and one copy too many may double the memory.
 */
const NEAR_ENOUGH = 0.75;

/** Size of the cache where the system does not state it. */
const ASSUMED_CACHE_BYTES = 32 * 2 ** 20;

export interface Surroundings {
  readonly modelWeightBytes: number;
  /** Last-level cache; 0 where the system does not know it. */
  readonly cacheBytes: number;
}

/**
 * Number of copies of a brick that stand for its context. There are enough copies that a run reads as many bytes of
 * other weights between two uses of the same weights as the model does, up to what caches hold, so that the weights are
 * as cold as in the model. There are also enough that a run is long compared to the call.
 */
export function copiesFor(weightBytes: number, roughMs: number, surroundings: Surroundings): number {
  const cacheBytes = surroundings.cacheBytes > 0 ? surroundings.cacheBytes : ASSUMED_CACHE_BYTES;
  const onlyReads = readsLittleButWeights(weightBytes, roughMs);
  const most = cacheBytes * (onlyReads ? CACHES_OF_DOMINANT_WEIGHTS : CACHES);
  const footprintBytes = Math.min(surroundings.modelWeightBytes, most) * (onlyReads ? NEAR_ENOUGH : 1);
  const forWeights = weightShare(weightBytes, roughMs) > NOTEWORTHY_SHARE ? footprintBytes / weightBytes : 1;
  const wanted = Math.max(forWeights, MIN_RUN_ROUGH_MS / roughMs);
  const affordable = Math.max(1, MAX_RUN_ROUGH_MS / roughMs);
  const [least, ...more] = STEPS;
  return more.reduce<number>((copies, step) => (copies < wanted && step <= affordable ? step : copies), least);
}

export function copyBrick(brick: Brick, copies: number): BrickCopies {
  const activations = brick.inputs.filter(({ role }) => role === 'activation').length;
  const source = brickModel(brick);
  return {
    copies,
    benchmark: copiesOf(brick, source, copies),
    baseline: emptyCall(activations, copies * source.graph.outputs.length, {
      joined: true,
      packed: packedOf(source, copies),
    }),
  };
}
