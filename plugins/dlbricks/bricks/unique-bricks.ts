import {
  type Benchmark,
  inputBytes,
  largestLayer,
  type LayerGraph,
  type MemoryNeed,
  subgraphsOf,
  type TensorType,
} from '../../../src/plugin-api.js';
import { cutSequences } from '../cut/cut.js';
import { joinWeightReaders } from '../cut/join-weight-readers.js';
import { lastUses } from '../cut/last-uses.js';
import { type Edge, edgesOf, type Sequence } from '../cut/layer-cut.js';
import { findMadeUpValues } from '../cut/made-up-values.js';
import { roughMs } from '../cut/rough-time.js';
import { readLayerFacts, type LayerFacts } from '../work/layer-facts.js';
import { type Brick, cutBrick } from './brick.js';
import { copiesFor, type BrickCopies, copyBrick, type MeasurableBrick, type Surroundings } from './brick-copies.js';
import { type EmptyCall, emptyCall } from './empty-call.js';
import { computeFootprint } from './footprint.js';
import { type OutputCopy, outputCopy } from './output-copy.js';
import type { MadeUpPart, ModelRecipe } from './recipe.js';
import { cutAtValuesOfRun } from './values-of-run.js';

export interface DecomposedModel {
  readonly recipe: ModelRecipe;
  readonly bricks: readonly MeasurableBrick[];
  readonly roughMs: readonly number[];
  readonly facts: readonly (readonly LayerFacts[])[];
  /**
   * Names of the layers or kernels of each sequence, '' where the file has none; they stay with the owner. undefined
   * where only graphs with fewer blocks were optimized.
   */
  readonly names?: readonly (readonly string[])[] | undefined;
  readonly largest: MemoryNeed;
  /** Names of the values that each sequence produces, in the order of the sequences; they stay with the owner. */
  readonly produces?: readonly (readonly string[])[] | undefined;
  /** The empty call, whose cost is part of every run of the model; undefined where the bricks contain it. */
  readonly call?: Benchmark | undefined;
  /** The cost of handing over its outputs; undefined where it is nothing or the bricks contain it. */
  readonly outputCopy?: OutputCopy | undefined;
}

/**
 * Takes a model apart into sequences of at most `granularity` layers and keeps each different one once.
 * Linear in the size of the graph.
 */
export function decomposeModel(name: string, graph: LayerGraph, granularity: number): DecomposedModel {
  const sequences = cutAtValuesOfRun(graph, cutSequences(graph, 'layer', granularity));
  return assemble({ name, layers: graph.layers.length }, graph, sequences, edgesOf(graph, sequences), () => undefined);
}

export interface KernelContext {
  /** Layers of the graph as its author wrote it. */
  readonly layers: number;
  readonly ends: EmptyCall;
  /** How bricks without subgraphs are measured: together in one graph, or as copies. Those with subgraphs: as copies. */
  readonly measured: 'together' | 'copies';
  readonly surroundings: Surroundings;
}

function outputTypes(graph: LayerGraph): readonly TensorType[] {
  return graph.outputs.flatMap((name) => graph.types.get(name) ?? []);
}

/**
 * Rounds a footprint to a power of two: measuring needs no more, and the exact value would disclose more of the model.
 */
export function roundedFootprint(bytes: number): number {
  return 2 ** Math.round(Math.log2(Math.max(1, bytes)));
}

export function decomposeKernels(
  name: string,
  graph: LayerGraph,
  granularity: number,
  { layers, ends, measured, surroundings }: KernelContext,
): DecomposedModel {
  const call = emptyCall(ends.inputs, ends.outputs, { joined: false });
  const header = { name, layers, call: call.signature };
  const copiesOf = (brick: Brick, sequence: Sequence, most = Infinity): BrickCopies => {
    const copies = copiesFor(inputBytes(brick.inputs, 'weight'), roughMsOf(graph, sequence), surroundings);
    return copyBrick(brick, Math.min(copies, most));
  };
  if (measured === 'together') {
    const sequences = cutAtValuesOfRun(graph, cutSequences(graph, 'kernel', granularity));
    const handed = outputCopy(outputTypes(graph));
    const whole = {
      ...header,
      ...(handed && { handing_over: { leaving: handed.returned.signature, staying: handed.kept.signature } }),
      footprint_bytes: roundedFootprint(computeFootprint(graph)),
    };
    // The profile adds its cost to every kernel of every pass of a Loop: several times what small kernels take.
    const parts = assemble(whole, graph, sequences, edgesOf(graph, sequences), (brick, sequence) => {
      return hasSubgraphs(graph, sequence) ? copiesOf(brick, sequence, MAX_COPIES_OF_LOOPS) : undefined;
    });
    return { ...parts, call, outputCopy: handed };
  }
  const joined = joinWeightReaders(graph, cutSequences(graph, 'kernel', granularity), granularity);
  const sequences = cutAtValuesOfRun(graph, joined);
  const parts = assemble(header, graph, sequences, edgesOf(graph, sequences), (brick, sequence) =>
    copiesOf(brick, sequence),
  );
  return { ...parts, call };
}

/** Most copies of a brick with subgraphs. How often a Loop runs, and so how long, is not known before it is measured. */
const MAX_COPIES_OF_LOOPS = 4;

function hasSubgraphs(graph: LayerGraph, { first, last }: Sequence): boolean {
  return graph.layers.slice(first, last + 1).some(({ attributes }) => subgraphsOf(attributes).length > 0);
}

function roughMsOf(graph: LayerGraph, { first, last }: Sequence): number {
  return graph.layers.slice(first, last + 1).reduce((sum, layer) => sum + roughMs(graph, layer), 0);
}

/** The part of a model whose work or sizes depend on made-up values; undefined where there is none. */
function madeUpPartOf(graph: LayerGraph, sequences: readonly Sequence[]): MadeUpPart | undefined {
  const found = findMadeUpValues(graph);
  if (found === undefined) return undefined;
  const layers = [...found.layers].sort((a, b) => a - b);
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
  edges: readonly Edge[],
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
      times.push(roughMsOf(graph, sequence));
      facts.push(graph.layers.slice(sequence.first, sequence.last + 1).map((layer) => readLayerFacts(graph, layer)));
    }
    return index;
  });
  const madeUp = madeUpPartOf(graph, sequences);
  return {
    recipe: {
      ...header,
      bricks: bricks.map(({ signature, operators, inputs, copies }) => ({
        signature,
        operators: [...operators],
        shapes: inputs.map(({ dims }) => dims.join('x')),
        ...(copies === undefined ? {} : { context: recipeOf(copies) }),
      })),
      sequences: brickOfSequence,
      edges: edges.map(([from, to]): [number, number] => [from, to]),
      ...(madeUp && { made_up_values: madeUp }),
    },
    bricks,
    roughMs: times,
    facts,
    names: sequences.map(({ first, last }) => graph.layers.slice(first, last + 1).map((layer) => layer.name)),
    largest: largestLayer(graph),
    produces: sequences.map(({ first, last }) => {
      return graph.layers.slice(first, last + 1).flatMap(({ outputs }) => outputs.filter((name) => name !== ''));
    }),
  };
}

function recipeOf({ copies, benchmark, baseline }: BrickCopies): NonNullable<ModelRecipe['bricks'][number]['context']> {
  return { copies, benchmark: benchmark.signature, baseline: baseline.signature };
}

export function uniqueBricks(models: readonly DecomposedModel[]): readonly MeasurableBrick[] {
  const bySignature = new Map<string, MeasurableBrick>();
  for (const { bricks } of models) {
    for (const brick of bricks) if (!bySignature.has(brick.signature)) bySignature.set(brick.signature, brick);
  }
  return [...bySignature.values()];
}
