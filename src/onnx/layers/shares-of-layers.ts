import { sumOf } from '../../base/sum-of.js';
import type { Node } from '../model/model.js';
import type { LayerGraph } from './layer-graph.js';
import { layersOfKernels } from './layers-of-kernels.js';
import { workOfLayers } from './work-of-layers.js';

export interface LayerShare {
  readonly layer: number;
  /** 0 to 1; the layers of a kernel have all of it. */
  readonly share: number;
  /** What the layers of a kernel share it by; undefined where there is only one. */
  readonly by: 'operations' | 'number of layers' | undefined;
}

/**
 * A kernel of several layers is shared by their operations; equally where these are not known.
 *
 * @param kernels of the graph that the runtime made of the author's @param names of kernels that ran, in their order
 * @returns by name; empty for a kernel that computes no layer, such as a change of layout
 */
export function sharesOfLayers(
  source: LayerGraph,
  kernels: readonly Node[],
  names: readonly string[],
): readonly (readonly LayerShare[])[] {
  const works = workOfLayers(source);
  const { layers } = layersOfKernels(source, kernels);
  const waiting = new Map<string, number[]>();
  for (const [index, { name }] of kernels.entries()) waiting.set(name, [...(waiting.get(name) ?? []), index]);
  return names.map((name): readonly LayerShare[] => {
    const computed = layers[waiting.get(name)?.shift() ?? -1] ?? [];
    const operations = computed.map((layer) => works[layer]?.operations);
    const all = sumOf(operations.map((one) => one ?? 0));
    const isByWork = all > 0 && operations.every((one) => one !== undefined);
    const by = computed.length === 1 ? undefined : isByWork ? 'operations' : 'number of layers';
    return computed.map((layer, at) => {
      return { layer, share: isByWork ? (operations[at] ?? 0) / all : 1 / computed.length, by };
    });
  });
}
