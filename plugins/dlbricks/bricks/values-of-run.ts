import { contentValues, type InputValues, type LayerGraph, steeringNames } from '../../../src/plugin-api.js';
import type { Sequence } from '../cut/layer-cut.js';

export const VALUES = ['made-up', 'run'] as const;

export type Values = (typeof VALUES)[number];

export type WeightsOfRun = NonNullable<LayerGraph['ofRun']>['weights'];

export function withValuesOfRun(
  graph: LayerGraph,
  values: ReadonlyMap<string, Parameters<typeof contentValues>[0]>,
  weights: WeightsOfRun,
  names: Iterable<string> = graph.layers.flatMap(steeringNames),
): LayerGraph {
  const known = new Map<string, InputValues>();
  for (const name of names) {
    const value = values.get(name);
    const content = value && contentValues(value);
    if (content !== undefined) known.set(name, content);
  }
  return { ...graph, ofRun: { weights, values: known } };
}

/** Cuts before steered layers whose value is of the same sequence: made-up values would replace it in one brick. */
export function cutAtValuesOfRun(graph: LayerGraph, sequences: readonly Sequence[]): readonly Sequence[] {
  const { ofRun, opaque } = graph;
  if (ofRun === undefined) return sequences;
  return sequences.flatMap(({ first, last }) => {
    const parts: Sequence[] = [];
    let from = first;
    let made = new Set<string>();
    for (let at = first; at <= last; at++) {
      const layer = graph.layers[at];
      if (layer === undefined) break;
      // No value that is no tensor can pass between two bricks.
      const isTogether = [...made].some((name) => opaque.has(name));
      const isSteered = steeringNames(layer).some((name) => made.has(name) && ofRun.values.has(name));
      if (isSteered && !isTogether) {
        parts.push({ first: from, last: at - 1 });
        from = at;
        made = new Set();
      }
      for (const name of layer.outputs) made.add(name);
    }
    return [...parts, { first: from, last }];
  });
}
