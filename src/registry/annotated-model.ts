import { sumOf } from '../base/sum-of.js';
import { weightlessModel } from '../measurement/weightless.js';
import { layersOfKernels } from '../onnx/layers/layers-of-kernels.js';
import type { LayerGraph } from '../onnx/layers/layer-graph.js';
import { workOfLayers } from '../onnx/layers/work-of-layers.js';
import type { Model, Node } from '../onnx/model/model.js';
import { encodeModelToBytes } from '../onnx/write/write-model.js';

export interface TimedKernel {
  readonly name: string;
  readonly latencyMs: number;
  /** Of all kernels, 0 to 1. */
  readonly share: number;
}

export interface AnnotatedModel {
  /** An ONNX file without weights. */
  readonly bytes: Uint8Array;
  /** Time of kernels that compute no layer of the author: changes of layout, casts. */
  readonly unplacedMs: number;
}

interface LayerTime {
  ms: number;
  share: number;
  readonly kernels: string[];
  readonly sharedBy: Set<string>;
}

const PREFIX = 'mlmodelscope.';

function metadataOf({ ms, share, kernels, sharedBy }: LayerTime): ReadonlyMap<string, string> {
  return new Map([
    [`${PREFIX}time_ms`, ms.toFixed(4)],
    [`${PREFIX}share_percent`, (100 * share).toFixed(2)],
    [`${PREFIX}kernels`, kernels.join(', ')],
    ...(sharedBy.size === 0 ? [] : [[`${PREFIX}time_of_fused_kernel_shared_by`, [...sharedBy].join(', ')] as const]),
  ]);
}

/**
 * The author's graph with times in the metadata of its nodes. The time of a kernel that computes several layers is
 * shared by their operations; equally where these are not known.
 *
 * @param source the model's own graph, whose layers are nodes of the model
 * @param kernels of the graph that the runtime made of it
 */
export function annotatedModel(
  model: Model,
  source: LayerGraph,
  kernels: readonly Node[],
  timed: readonly TimedKernel[],
): AnnotatedModel {
  const works = workOfLayers(source);
  const { layers } = layersOfKernels(source, kernels);
  const waiting = new Map<string, TimedKernel[]>();
  for (const kernel of timed) waiting.set(kernel.name, [...(waiting.get(kernel.name) ?? []), kernel]);
  const times = new Map<number, LayerTime>();
  let placedMs = 0;
  for (const [index, { name }] of kernels.entries()) {
    const kernel = waiting.get(name)?.shift();
    const computed = layers[index] ?? [];
    if (kernel === undefined || computed.length === 0) continue;
    placedMs += kernel.latencyMs;
    const operations = computed.map((layer) => works[layer]?.operations);
    const all = sumOf(operations.map((one) => one ?? 0));
    const isByWork = all > 0 && operations.every((one) => one !== undefined);
    for (const [at, layer] of computed.entries()) {
      const part = isByWork ? (operations[at] ?? 0) / all : 1 / computed.length;
      const time = times.get(layer) ?? { ms: 0, share: 0, kernels: [], sharedBy: new Set<string>() };
      times.set(layer, time);
      time.ms += part * kernel.latencyMs;
      time.share += part * kernel.share;
      time.kernels.push(name);
      if (computed.length > 1) time.sharedBy.add(isByWork ? 'operations' : 'number of layers');
    }
  }
  const metadata = new Map([...times].map(([layer, time]) => [source.layers[layer], metadataOf(time)] as const));
  const nodes = model.graph.nodes.map((node) =>
    metadata.has(node) ? { ...node, metadata: metadata.get(node) } : node,
  );
  const weightless = weightlessModel({ ...model, graph: { ...model.graph, nodes } });
  return {
    bytes: encodeModelToBytes(weightless.model),
    unplacedMs: sumOf(timed.map(({ latencyMs }) => latencyMs)) - placedMs,
  };
}
