import type { Benchmark, LayerGraph } from '../../../src/plugin-api.js';
import { type Brick, cutBrick } from './brick.js';
import { lastUses } from '../cut/last-uses.js';
import { type Edge, edgesOf, findModelSubgraphs, type Sequence } from '../cut/layer-cut.js';
import {
  copiesFor,
  type EmptyCall,
  emptyCall,
  type InContext,
  inContext,
  type MeasurableBrick,
  type Surroundings,
  weightBytesOf,
} from './in-context.js';
import { joinWeightReaders } from '../cut/join-weight-readers.js';
import { cutAtFewestValues } from '../cut/kernel-cut.js';
import { roughMs } from '../cut/rough-time.js';
import type { ModelRecipe } from './recipe.js';

/** A model taken apart: how to rebuild it, and its bricks, each once, in the order in which they were first met. */
export interface DecomposedModel {
  readonly recipe: ModelRecipe;
  readonly bricks: readonly MeasurableBrick[];
  /** The empty call that every run of the model pays for; undefined where its bricks contain theirs. */
  readonly call?: Benchmark | undefined;
}

/**
 * Takes a model apart into sequences of at most `granularity` layers and keeps each different one once.
 * Linear in the size of the graph.
 */
export function decomposeModel(name: string, graph: LayerGraph, granularity: number): DecomposedModel {
  const { sequences, edges } = findModelSubgraphs(graph, granularity);
  return assemble({ name, layers: graph.layers.length }, graph, sequences, edges, () => undefined);
}

/** What the kernel cut has to know beside the optimized graph. */
export interface KernelContext {
  /** Layers of the graph as its author wrote it. */
  readonly layers: number;
  readonly ends: EmptyCall;
  readonly surroundings: Surroundings;
}

/**
 * Takes a runtime's optimized graph apart into bricks of at most `granularity` kernels, each to be measured in the
 * context of the model.
 */
export function decomposeKernels(
  name: string,
  graph: LayerGraph,
  granularity: number,
  { layers, ends, surroundings }: KernelContext,
): DecomposedModel {
  const sequences = joinWeightReaders(graph, cutAtFewestValues(graph, granularity), granularity);
  const contextOf = (brick: Brick, { first, last }: Sequence): InContext => {
    const work = graph.layers.slice(first, last + 1).reduce((sum, kernel) => sum + roughMs(graph, kernel), 0);
    return inContext(brick, copiesFor(weightBytesOf(brick.inputs), work, surroundings));
  };
  const call = emptyCall(ends.inputs, ends.outputs, { joined: false });
  const header = { name, layers, call: call.signature };
  return { ...assemble(header, graph, sequences, edgesOf(graph, sequences), contextOf), call };
}

/** @param contextOf called once for each different brick */
function assemble(
  header: Pick<ModelRecipe, 'name' | 'layers' | 'call'>,
  graph: LayerGraph,
  sequences: readonly Sequence[],
  edges: readonly Edge[],
  contextOf: (brick: Brick, sequence: Sequence) => InContext | undefined,
): DecomposedModel {
  const uses = lastUses(graph);
  const bricks: MeasurableBrick[] = [];
  const indexBySignature = new Map<string, number>();
  const brickOfSequence = sequences.map((sequence) => {
    const brick = cutBrick(graph, uses, sequence);
    let index = indexBySignature.get(brick.signature);
    if (index === undefined) {
      index = bricks.length;
      indexBySignature.set(brick.signature, index);
      const context = contextOf(brick, sequence);
      bricks.push(context === undefined ? brick : { ...brick, context });
    }
    return index;
  });
  return {
    recipe: {
      ...header,
      bricks: bricks.map(({ signature, operators, context }) => ({
        signature,
        operators: [...operators],
        ...(context === undefined ? {} : { context: recipeOf(context) }),
      })),
      sequences: brickOfSequence,
      edges: edges.map(([from, to]): [number, number] => [from, to]),
    },
    bricks,
  };
}

function recipeOf({ copies, benchmark, baseline }: InContext): NonNullable<ModelRecipe['bricks'][number]['context']> {
  return { copies, benchmark: benchmark.signature, baseline: baseline.signature };
}

/** The different bricks of several models, in the order in which they are first met. */
export function uniqueBricks(models: readonly DecomposedModel[]): readonly MeasurableBrick[] {
  const bySignature = new Map<string, MeasurableBrick>();
  for (const { bricks } of models) {
    for (const brick of bricks) if (!bySignature.has(brick.signature)) bySignature.set(brick.signature, brick);
  }
  return [...bySignature.values()];
}
