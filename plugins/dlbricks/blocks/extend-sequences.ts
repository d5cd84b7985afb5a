import type { Edge } from '../cut/layer-cut.js';

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
