import type { Node } from '../model/model.js';
import type { LayerGraph } from './layer-graph.js';

/** Suffixes of the names of kernels in the runtime's blocked layout; before them is the value that they compute. */
const BLOCKED = ['_nchwc', '_bn_nchwc'];

const BLOCKED_DOMAIN = 'com.microsoft.nchwc';

/** Kernels that only change the layout of a value. */
export function isReorder({ opType, domain }: Pick<Node, 'opType' | 'domain'>): boolean {
  return domain === BLOCKED_DOMAIN && (opType === 'ReorderInput' || opType === 'ReorderOutput');
}

export interface KernelsOfLayers {
  /** For each kernel: indices of the layers that it computes, in their order; none where that is not known. */
  readonly layers: readonly (readonly number[])[];
  /** For each kernel, the last layer that it computes; undefined where that is not known. */
  readonly ends: readonly (number | undefined)[];
  /** Whether the value of a kernel is in the blocked layout: then it has no name of the author. */
  readonly blocked: readonly boolean[];
}

/** Names that a kernel may have from the author's graph, the most certain one first; others are the runtime's. */
export function namesOfKernel({ name, outputs }: Pick<Node, 'name' | 'outputs'>): readonly string[] {
  const blocked = BLOCKED.filter((suffix) => name.endsWith(suffix)).map((suffix) => name.slice(0, -suffix.length));
  return [...outputs, ...blocked, name].filter((one) => one !== '');
}

/**
 * The layers between a kernel's values and those of others: the runtime keeps names of values that it does not fuse.
 */
export function layersOfKernels(source: LayerGraph, kernels: readonly Node[]): KernelsOfLayers {
  const valueOf = new Map(source.layers.flatMap(({ outputs }, index) => outputs.map((name) => [name, index] as const)));
  // The empty name stands for an absent value.
  valueOf.delete('');
  const of = new Map([...source.layers.map(({ name }, index) => [name, index] as const), ...valueOf]);
  const ends = kernels.map((kernel) => {
    const found = isReorder(kernel) ? [] : namesOfKernel(kernel).map((name) => of.get(name));
    return found.find((index) => index !== undefined);
  });
  const taken = new Set(ends);
  const layers = ends.map((end): readonly number[] => {
    if (end === undefined) return [];
    const found = new Set([end]);
    for (const layer of found) {
      for (const name of source.layers[layer]?.inputs ?? []) {
        const before = valueOf.get(name);
        if (before !== undefined && !taken.has(before)) found.add(before);
      }
    }
    return [...found].sort((a, b) => a - b);
  });
  const blocked = kernels.map((kernel) => !isReorder(kernel) && kernel.outputs.every((output) => !valueOf.has(output)));
  return { layers, ends, blocked };
}
