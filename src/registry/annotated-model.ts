import { weightlessModel } from '../measurement/weightless.js';
import type { LayerGraph } from '../onnx/layers/layer-graph.js';
import type { LayerShare } from '../onnx/layers/shares-of-layers.js';
import type { Model } from '../onnx/model/model.js';
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
 * The author's graph with times in the metadata of its nodes.
 *
 * @param source the model's own graph, whose layers are nodes of the model
 * @param shares for each kernel, the layers that it computes
 */
export function annotatedModel(
  model: Model,
  source: LayerGraph,
  timed: readonly TimedKernel[],
  shares: readonly (readonly LayerShare[])[],
): AnnotatedModel {
  const times = new Map<number, LayerTime>();
  let unplacedMs = 0;
  for (const [index, kernel] of timed.entries()) {
    const computed = shares[index] ?? [];
    if (computed.length === 0) unplacedMs += kernel.latencyMs;
    for (const { layer, share, by } of computed) {
      const time = times.get(layer) ?? { ms: 0, share: 0, kernels: [], sharedBy: new Set<string>() };
      times.set(layer, time);
      time.ms += share * kernel.latencyMs;
      time.share += share * kernel.share;
      time.kernels.push(kernel.name);
      if (by !== undefined) time.sharedBy.add(by);
    }
  }
  const metadata = new Map([...times].map(([layer, time]) => [source.layers[layer], metadataOf(time)] as const));
  const nodes = model.graph.nodes.map((node) =>
    metadata.has(node) ? { ...node, metadata: metadata.get(node) } : node,
  );
  const weightless = weightlessModel({ ...model, graph: { ...model.graph, nodes } });
  return { bytes: encodeModelToBytes(weightless.model), unplacedMs };
}
