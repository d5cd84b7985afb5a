import {
  type Benchmark,
  inputBytes,
  largestLayer,
  type LayerGraph,
  type MemoryNeed,
  namesOfKernel,
  type Node,
  hasSubgraphs,
  sumOf,
  GATHERING,
  readNames,
  tensorBytes,
  groupedBy,
} from '../../../src/plugin-api.js';
import { cutSequences } from '../cut/cut.js';
import { joinWeightReaders } from '../cut/join-weight-readers.js';
import { lastUses, liveSizes } from '../cut/last-uses.js';
import { findEdges, type Sequence } from '../cut/layer-cut.js';
import { findMadeUpValues } from '../cut/made-up-values.js';
import { roughMs } from '../cut/rough-time.js';
import { readLayerFacts, type LayerFacts } from '../work/layer-facts.js';
import { type Brick, cutBrick } from './brick.js';
import {
  copiesFor,
  type BrickCopies,
  copyBrick,
  copyShortBrick,
  type MeasurableBrick,
  type Surroundings,
} from './brick-copies.js';
import { type EmptyCall, emptyCall } from './empty-call.js';
import { type OutputCopy, outputCopy, outputTypes } from './output-copy.js';
import type { BrickRecipe, MadeUpPart, ModelRecipe } from './recipe.js';
import { cutAtValuesOfRun } from './values-of-run.js';

export interface DecomposedModel {
  readonly recipe: ModelRecipe;
  readonly bricks: readonly MeasurableBrick[];
  readonly roughMs: readonly number[];
  readonly facts: readonly (readonly LayerFacts[])[];
  /** '' where the file has none; undefined where only graphs with fewer blocks were optimized. The owner keeps them. */
  readonly names?: readonly (readonly string[])[] | undefined;
  readonly largest: MemoryNeed;
  /** Names of the author's values and layers, in the order of the sequences. The owner keeps them. */
  readonly computes?: readonly (readonly string[])[] | undefined;
  /** undefined where the bricks contain it. */
  readonly call?: Benchmark | undefined;
  /** undefined where it is nothing or the bricks contain it. */
  readonly outputCopy?: OutputCopy | undefined;
}

/** Keeps each different sequence once. Linear in the size of the graph. */
export function decomposeModel(name: string, graph: LayerGraph, granularity: number): DecomposedModel {
  const sequences = cutAtValuesOfRun(graph, cutSequences(graph, 'layer', granularity));
  return assemble({ name, layers: graph.layers.length }, graph, sequences, () => undefined);
}

export interface KernelContext {
  /** As its author wrote it. */
  readonly layers: number;
  readonly ends: EmptyCall;
  /**
   * Together, by the runtime's profile, or as copies, without it. `short`: as copies since the kernels are short, on a
   * runtime that keeps a profile. Bricks with subgraphs: always as copies.
   */
  readonly measured: 'together' | 'copies' | 'short';
  readonly surroundings: Surroundings;
}

/** A power of two: measuring needs no more, and the exact value would disclose more of the model. */
export function roundedFootprint(bytes: number): number {
  return 2 ** Math.round(Math.log2(Math.max(1, bytes)));
}

export function decomposeKernels(
  name: string,
  graph: LayerGraph,
  granularity: number,
  { layers, ends, measured, surroundings }: KernelContext,
): DecomposedModel {
  const call = emptyCall(ends, { joined: false });
  const header = { name, layers, call: call.signature };
  const copiesOf = (brick: Brick, sequence: Sequence, most = Infinity): BrickCopies => {
    const copies = copiesFor(inputBytes(brick.inputs, 'weight'), sumRoughMs(graph, sequence), surroundings);
    return copyBrick(brick, Math.min(copies, most));
  };
  const joined = (): readonly Sequence[] => {
    return joinWeightReaders(graph, cutSequences(graph, 'kernel', granularity), granularity);
  };
  if (measured !== 'copies') {
    const isShort = measured === 'short';
    const sequences = cutAtValuesOfRun(graph, isShort ? joined() : cutSequences(graph, 'kernel', granularity));
    const handed = outputCopy(outputTypes(graph, graph.outputs));
    const footprintBytes = computeFootprint(graph);
    const whole = {
      ...header,
      ...(handed && { handing_over: { leaving: handed.returned.signature, staying: handed.kept.signature } }),
      footprint_bytes: roundedFootprint(footprintBytes),
    };
    // The profile adds its cost to every kernel of every pass of a Loop: several times what small kernels take.
    const parts = assemble(whole, graph, sequences, (brick, sequence) => {
      if (sliceLayers(graph, sequence).some(hasSubgraphs)) return copiesOf(brick, sequence, MAX_COPIES_OF_LOOPS);
      const touched = { ...surroundings, modelWeightBytes: footprintBytes };
      return isShort ? copyShortBrick(brick, sumRoughMs(graph, sequence), touched) : undefined;
    });
    return { ...parts, call, outputCopy: handed };
  }
  return { ...assemble(header, graph, cutAtValuesOfRun(graph, joined()), copiesOf), call };
}

const MIN_SHORT_KERNELS = 16;

/** A profile adds two to three microseconds to each kernel. */
const SHORT_KERNEL_MS = 0.005;

/**
 * Whether the profile's cost would be a large part of the time, and known too roughly to subtract it.
 *
 * @param kernels of the model, if the graph has fewer of its blocks
 */
export function hasShortKernels(graph: LayerGraph, kernels = graph.layers.length): boolean {
  const { length } = graph.layers;
  if (kernels < MIN_SHORT_KERNELS) return false;
  return sumRoughMs(graph, { first: 0, last: length - 1 }) < length * SHORT_KERNEL_MS;
}

/** How often a Loop runs, and so how long, is not known before it is measured. */
const MAX_COPIES_OF_LOOPS = 4;

function sliceLayers({ layers }: LayerGraph, { first, last }: Sequence): readonly Node[] {
  return layers.slice(first, last + 1);
}

function sumRoughMs(graph: LayerGraph, sequence: Sequence): number {
  return sumOf(sliceLayers(graph, sequence).map((layer) => roughMs(graph, layer)));
}

function findMadeUpPart(graph: LayerGraph, sequences: readonly Sequence[]): MadeUpPart | undefined {
  const found = findMadeUpValues(graph);
  if (found === undefined) return undefined;
  const layers = [...found.layers];
  let at = 0;
  const depending = sequences.flatMap(({ last }, index) => {
    const before = at;
    while ((layers[at] ?? Infinity) <= last) at++;
    return at > before ? [index] : [];
  });
  return { operators: [...found.operators], kernels: layers.length, sequences: depending };
}

function assemble(
  header: Omit<ModelRecipe, 'bricks' | 'sequences' | 'edges'>,
  graph: LayerGraph,
  sequences: readonly Sequence[],
  copiesOf: (brick: Brick, sequence: Sequence) => BrickCopies | undefined,
): DecomposedModel {
  const uses = lastUses(graph);
  const bricks: MeasurableBrick[] = [];
  const times: number[] = [];
  const facts: (readonly LayerFacts[])[] = [];
  const indexBySignature = new Map<string, number>();
  const brickOfSequence = sequences.map((sequence) => {
    const brick = cutBrick(graph, uses, sequence);
    let index = indexBySignature.get(brick.signature);
    if (index === undefined) {
      index = bricks.length;
      indexBySignature.set(brick.signature, index);
      const copies = copiesOf(brick, sequence);
      bricks.push(copies === undefined ? brick : { ...brick, copies });
      times.push(sumRoughMs(graph, sequence));
      facts.push(sliceLayers(graph, sequence).map((layer) => readLayerFacts(graph, layer)));
    }
    return index;
  });
  const madeUp = findMadeUpPart(graph, sequences);
  return {
    recipe: {
      ...header,
      bricks: bricks.map(recipeOfBrick),
      sequences: brickOfSequence,
      edges: findEdges(graph, sequences).map(([from, to]): [number, number] => [from, to]),
      ...(madeUp && { made_up_values: madeUp }),
    },
    bricks,
    roughMs: times,
    facts,
    names: sequences.map((sequence) => sliceLayers(graph, sequence).map(({ name }) => name)),
    largest: largestLayer(graph),
    computes: sequences.map((sequence) => sliceLayers(graph, sequence).flatMap(namesOfKernel)),
  };
}

export function recipeOfBrick({ signature, operators, inputs, copies }: MeasurableBrick): BrickRecipe {
  const context = copies && {
    copies: copies.copies,
    benchmark: copies.benchmark.signature,
    baseline: copies.baseline.signature,
  };
  const shapes = inputs.map(({ dims }) => dims.join('x'));
  return { signature, operators: [...operators], shapes, ...(context && { context }) };
}

export function uniqueBricks(models: readonly DecomposedModel[]): readonly MeasurableBrick[] {
  const bricks = models.flatMap((model) => model.bricks);
  return [...groupedBy(bricks, ({ signature }) => signature).values()].map(([first]) => first);
}

function outputBytes(graph: LayerGraph, { outputs }: Node): number {
  return sumOf(outputs.flatMap((name) => graph.types.get(name) ?? []).map(tensorBytes));
}

function constantBytes(graph: LayerGraph): number {
  const read = new Map<string, number>();
  for (const layer of graph.layers) {
    for (const name of readNames(layer)) {
      const constant = graph.constants.get(name);
      if (constant === undefined) continue;
      const all = tensorBytes(constant);
      const isPart = name === layer.inputs[0] && GATHERING.has(layer.opType);
      const touched = isPart ? Math.min(all, outputBytes(graph, layer)) : all;
      read.set(name, Math.max(touched, read.get(name) ?? 0));
    }
  }
  return sumOf(read.values());
}

/** Most bytes that are alive at a time: what a runtime's arena needs at least. */
function liveBytes(graph: LayerGraph): number {
  const live = liveSizes(graph, (name) => {
    const type = graph.types.get(name);
    return type === undefined ? 0 : tensorBytes(type);
  });
  return live.reduce((most, { during }) => Math.max(most, during), 0);
}

/** Bytes that one run touches: what passes through the caches between two uses of the same weight. */
export function computeFootprint(graph: LayerGraph): number {
  return constantBytes(graph) + liveBytes(graph);
}
