import { type Model, type Node, readNames } from '../../../src/plugin-api.js';
import type { RepeatedBlocks } from './find-blocks.js';
import type { Edge } from '../cut/layer-cut.js';

function only<Value>(entries: ReadonlyMap<string, Value>, names: ReadonlySet<string>): ReadonlyMap<string, Value> {
  return new Map([...entries].filter(([name]) => names.has(name)));
}

/** Readers of the last block read the last kept one. @returns outputOf: the counterpart of each output of the whole */
export function shortenModel(model: Model, { first, length, count }: RepeatedBlocks, keep: number) {
  const { graph } = model;
  const { nodes } = graph;
  const end = first + count * length;
  const kept = first + keep * length;
  /** Of each left-out value in the last kept block. */
  const likeOf = new Map<string, string>();
  for (let index = kept; index < end; index++) {
    const like = nodes[kept - length + ((index - kept) % length)];
    for (const [at, name] of (nodes[index]?.outputs ?? []).entries()) likeOf.set(name, like?.outputs[at] ?? '');
  }
  const nameOf = (name: string): string => likeOf.get(name) ?? name;
  const after = nodes.slice(end).map((node): Node => ({ ...node, inputs: node.inputs.map(nameOf) }));
  const left = [...nodes.slice(0, kept), ...after];
  const outputs = [...new Set(graph.outputs.map(nameOf))];
  const read = new Set([...left.flatMap((node) => readNames(node)), ...outputs]);
  const wasRead = new Set(nodes.flatMap((node) => readNames(node)));
  const inputs = graph.inputs.filter((name) => read.has(name) || !wasRead.has(name));
  const there = new Set([...read, ...inputs, ...left.flatMap((node) => node.outputs)]);
  const shortened: Model['graph'] = {
    ...graph,
    nodes: left,
    inputs,
    outputs,
    initializers: only(graph.initializers, there),
    types: only(graph.types, there),
    given: graph.given && only(graph.given, new Set(inputs)),
  };
  return {
    model: { ...model, source: `${model.source}, ${keep} of ${count} blocks`, graph: shortened },
    outputOf: new Map(graph.outputs.map((name) => [name, nameOf(name)])),
  };
}

export interface Sequences {
  /** Sequences with equal identifiers do the same. */
  readonly sequences: readonly string[];
  readonly edges: readonly Edge[];
}

export type Extended =
  | { readonly kind: 'extended'; readonly sequences: Sequences }
  | { readonly kind: 'different'; readonly reason: string };

/** The third block must add its sequences in one place, and repeat the sequences right before that place. */
export function extendSequences(two: readonly string[], three: Sequences, count: number): Extended {
  const { sequences, edges } = three;
  const added = sequences.length - two.length;
  if (added <= 0) return { kind: 'different', reason: 'a third block adds no kernels' };
  const differing = two.findIndex((sequence, index) => sequence !== sequences[index]);
  const at = differing < 0 ? two.length : differing;
  const isInserted = two.slice(at).every((sequence, index) => sequence === sequences[at + added + index]);
  if (!isInserted) return { kind: 'different', reason: 'a third block changes kernels outside of the block' };
  const block = sequences.slice(at, at + added);
  if (at < added || block.some((sequence, index) => sequence !== sequences[at - added + index])) {
    return { kind: 'different', reason: 'the third block has other kernels than the second' };
  }
  const more = count - 3;
  const shift = more * added;
  const copies = Array.from({ length: more + 1 }, (_, copy) => copy * added);
  const extended = edges.flatMap(([from, to]): readonly Edge[] => {
    if (to < at) return [[from, to]];
    if (to >= at + added) return [[from >= at ? from + shift : from, to + shift]];
    // Edges from the block before, or within the block, move with each copy; all others start before all blocks.
    const moves = from >= at - added;
    return copies.map((moved): Edge => [moves ? from + moved : from, to + moved]);
  });
  const repeated = Array.from({ length: more }, () => block).flat();
  const all = [...sequences.slice(0, at + added), ...repeated, ...sequences.slice(at + added)];
  return { kind: 'extended', sequences: { sequences: all, edges: extended } };
}
