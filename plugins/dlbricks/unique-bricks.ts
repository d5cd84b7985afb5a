import type { LayerGraph } from '../../src/plugin-api.js';
import { type Brick, cutBrick, lastUses } from './brick.js';
import { findModelSubgraphs } from './decompose.js';
import type { ModelRecipe } from './recipe.js';

/** A model taken apart: how to rebuild it, and its bricks, each once, in the order in which they were first met. */
export interface DecomposedModel {
  readonly recipe: ModelRecipe;
  readonly bricks: readonly Brick[];
}

/**
 * Takes a model apart into sequences of at most `granularity` layers and keeps each different one once.
 * Linear in the size of the graph.
 */
export function decomposeModel(name: string, graph: LayerGraph, granularity: number): DecomposedModel {
  const { sequences, edges } = findModelSubgraphs(graph, granularity);
  const uses = lastUses(graph);
  const bricks: Brick[] = [];
  const indexBySignature = new Map<string, number>();
  const brickOfSequence = sequences.map((sequence) => {
    const brick = cutBrick(graph, uses, sequence);
    let index = indexBySignature.get(brick.signature);
    if (index === undefined) {
      index = bricks.length;
      indexBySignature.set(brick.signature, index);
      bricks.push(brick);
    }
    return index;
  });
  return {
    recipe: {
      name,
      layers: graph.layers.length,
      bricks: bricks.map(({ signature, operators }) => ({ signature, operators: [...operators] })),
      sequences: brickOfSequence,
      edges: edges.map(([from, to]): [number, number] => [from, to]),
    },
    bricks,
  };
}

/** The different bricks of several models, in the order in which they are first met. */
export function uniqueBricks(models: readonly DecomposedModel[]): readonly Brick[] {
  const bySignature = new Map<string, Brick>();
  for (const { bricks } of models) {
    for (const brick of bricks) if (!bySignature.has(brick.signature)) bySignature.set(brick.signature, brick);
  }
  return [...bySignature.values()];
}
