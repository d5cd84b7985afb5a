import {
  anonymousAttributes,
  ASSUMED_CACHE_BYTES,
  type Benchmark,
  type BenchmarkInput,
  GATHERING,
  inputBytes,
  isPacked,
  type Model,
  type Node,
  findStaticType,
  type TensorType,
  append,
  maxOf,
} from '../../../src/plugin-api.js';
import { brickModel } from '../cut/brick-model.js';
import { readsLittleButWeights, weightShare } from '../cut/rough-time.js';
import type { Brick } from './brick.js';
import {
  countTexts,
  emptyCall,
  type PackedValues,
  ANY_OPSET,
  buildBenchmark,
  joinNode,
  shapeNodes,
} from './empty-call.js';

// For runtimes without a profile. A brick alone runs differently from one inside a model: its weights stay in the
// cache, its outputs leave the memory arena, and the call counts in full. So several copies, with weights of their own,
// run in one graph, and Shape nodes read all outputs. A baseline of the Shape nodes and the call is subtracted.

export interface BrickCopies {
  readonly copies: number;
  readonly benchmark: Benchmark;
  readonly baseline: Benchmark;
}

/** Without copies, the brick itself is measured. */
export interface MeasurableBrick extends Brick {
  readonly copies?: BrickCopies | undefined;
}

/** The first that has all packed types. Source: Cast in the ONNX project's Operators.md. */
const PACKED_OPSET = 25;

/** As far as their sizes are known. */
function packedOutputs({ graph }: Model): readonly TensorType[] {
  return graph.outputs.flatMap((output) => {
    const type = findStaticType(graph.types.get(output));
    return type !== undefined && isPacked(type.elementType) ? [type] : [];
  });
}

function chooseOpset(source: Model): number {
  return source.opsets.get('') ?? (packedOutputs(source).length > 0 ? PACKED_OPSET : ANY_OPSET);
}

function listPackedValues(source: Model, copies: number): PackedValues | undefined {
  const types = packedOutputs(source);
  if (types.length === 0) return undefined;
  return {
    types: Array.from({ length: copies }, () => types).flat(),
    irVersion: source.irVersion,
    opset: chooseOpset(source),
  };
}

/** Weights that are only looked up in: a copy reads few of their rows, the same as the others. */
function findTables({ nodes }: Model['graph'], weights: readonly BenchmarkInput[]): readonly string[] {
  const otherwise = new Set(nodes.flatMap(({ opType, inputs }) => inputs.slice(GATHERING.has(opType) ? 1 : 0)));
  return weights.flatMap(({ name }) => (otherwise.has(name) ? [] : [name]));
}

/** Which weights copies have of their own. */
interface CopiedWeights {
  /** Copies take turns with the sets of weights. */
  readonly sets: number;
  /** Weights that all copies share. */
  readonly shared: readonly string[];
}

/** Activations are shared. */
function buildCopies(brick: Brick, source: Model, copies: number, { sets, shared: tables }: CopiedWeights): Benchmark {
  const { graph } = source;
  const activations = brick.inputs.filter(({ role }) => role === 'activation');
  const weights = brick.inputs.filter(({ role }) => role === 'weight');
  const weightNames = new Set(weights.map(({ name }) => name));
  const shared = new Set(['', ...activations.map(({ name }) => name), ...graph.initializers.keys(), ...tables]);

  const nodes: Node[] = [];
  const shapes: string[] = [];
  const copiedWeights: BenchmarkInput[] = [];
  let inner = 0;
  const freshName = (): string => `inner${inner++}`;
  for (let copy = 0; copy < copies; copy++) {
    const nameOf = (value: string): string => {
      const number = weightNames.has(value) ? copy % sets : copy;
      return number === 0 || shared.has(value) ? value : `${value}_${number}`;
    };
    for (const weight of weights) {
      if (copy >= sets || (copy > 0 && shared.has(weight.name))) continue;
      const fill = { ...weight.fill, seed: weight.fill.seed + copy * 65_537 };
      copiedWeights.push({ ...weight, name: nameOf(weight.name), fill });
    }
    for (const node of graph.nodes) {
      // A branch of an If reads its copy's values too.
      const attributes = anonymousAttributes(node.attributes, { nameOf, freshName });
      nodes.push({ ...node, inputs: node.inputs.map(nameOf), outputs: node.outputs.map(nameOf), attributes });
    }
    for (const output of graph.outputs) {
      const shape = `shape${shapes.length}`;
      append(nodes, shapeNodes(nameOf(output), shape, graph.types.get(output)?.elementType));
      shapes.push(shape);
    }
  }
  const opsets = new Map([...source.opsets, ['', chooseOpset(source)] as const]);
  const model = { ...source, opsets, graph: { ...graph, nodes: [...nodes, joinNode(shapes)] } };
  return buildBenchmark(model, [...activations, ...copiedWeights]);
}

/** Few, so that bricks share baselines. */
const STEPS = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48] as const;

export const MAX_COPIES = maxOf(STEPS);

/** Rough time of a run from which the call is a small part of it. */
const MIN_RUN_ROUGH_MS = 2;

/** Longer runs cost more and are not more precise. */
const MAX_RUN_ROUGH_MS = 120;

/** Where reading weights takes a smaller share of the time, it does not matter which cache holds them. */
const NOTEWORTHY_SHARE = 0.01;

/** Larger footprints all count as equally cold. */
const CACHES = 1.5;

/** For bricks that mostly read weights: a cache keeps some weights however many pass through it. */
const CACHES_OF_DOMINANT_WEIGHTS = 8;

/** Of the footprint, for the same bricks: more memory than the model's is slower, and one copy may double it. */
const NEAR_ENOUGH = 0.75;

export interface Surroundings {
  readonly modelWeightBytes: number;
  /** Last-level cache; 0 where the system does not know it. */
  readonly cacheBytes: number;
}

/** Enough that weights are as cold as in the model, as far as caches hold them, and a run is long against the call. */
export function copiesFor(weightBytes: number, roughMs: number, surroundings: Surroundings): number {
  const cacheBytes = surroundings.cacheBytes > 0 ? surroundings.cacheBytes : ASSUMED_CACHE_BYTES;
  const onlyReads = readsLittleButWeights(weightBytes, roughMs);
  const most = cacheBytes * (onlyReads ? CACHES_OF_DOMINANT_WEIGHTS : CACHES);
  const footprintBytes = Math.min(surroundings.modelWeightBytes, most) * (onlyReads ? NEAR_ENOUGH : 1);
  const forWeights = weightShare(weightBytes, roughMs) > NOTEWORTHY_SHARE ? footprintBytes / weightBytes : 1;
  const wanted = Math.max(forWeights, MIN_RUN_ROUGH_MS / roughMs);
  const affordable = Math.max(1, MAX_RUN_ROUGH_MS / roughMs);
  return STEPS.reduce<number>((copies, step) => (copies < wanted && step <= affordable ? step : copies), STEPS[0]);
}

function copyWithBaseline(brick: Brick, source: Model, copies: number, weights: CopiedWeights): BrickCopies {
  const activations = brick.inputs.filter(({ role }) => role === 'activation');
  const call = {
    inputs: activations.length,
    outputs: copies * source.graph.outputs.length,
    texts: countTexts(activations),
  };
  const options = { joined: true, packed: listPackedValues(source, copies) };
  const baseline = emptyCall(call, options);
  return { copies, benchmark: buildCopies(brick, source, copies, weights), baseline };
}

/** Each copy has all weights of its own. */
export function copyBrick(brick: Brick, copies: number): BrickCopies {
  return copyWithBaseline(brick, brickModel(brick), copies, { sets: copies, shared: [] });
}

/**
 * As many copies as make the call a small part of a run, and as many sets of weights as the model touches bytes in a
 * run: with more, they would be colder than in the model.
 *
 * @param surroundings of its weights, those that one run of the model touches
 */
export function copyShortBrick(brick: Brick, roughMs: number, surroundings: Surroundings): BrickCopies {
  const source = brickModel(brick);
  const weights = brick.inputs.filter(({ role }) => role === 'weight');
  const shared = findTables(source.graph, weights);
  const own = weights.filter(({ name }) => !shared.includes(name));
  const ownBytes = inputBytes(own, 'weight');
  const copies = copiesFor(ownBytes, roughMs, surroundings);
  const sets = ownBytes === 0 ? 1 : Math.round(surroundings.modelWeightBytes / ownBytes);
  return copyWithBaseline(brick, source, copies, { sets: Math.min(Math.max(1, sets), copies), shared });
}
