import { weightlessModel } from '../measurement/weightless.js';
import type { LayerGraph } from '../onnx/layers/layer-graph.js';
import type { LayerShare } from '../onnx/layers/shares-of-layers.js';
import type { Model } from '../onnx/model/model.js';
import { encodeModelToBytes } from '../onnx/write/write-model.js';

export interface TimedKernel {
  readonly name: string;
  readonly latencyMs: number;
  readonly share: number;
}

export interface AnnotatedModel {
  readonly bytes: Uint8Array;
  /** Of kernels that compute no layer of the author: changes of layout, casts. */
  readonly unplacedMs: number;
}

interface LayerTime {
  ms: number;
  share: number;
  readonly kernels: string[];
  readonly sharedBy: Set<string>;
}

const PREFIX = 'mlmodelscope.';

function buildMetadata({ ms, share, kernels, sharedBy }: LayerTime): ReadonlyMap<string, string> {
  return new Map([
    [`${PREFIX}time_ms`, ms.toFixed(4)],
    [`${PREFIX}share_percent`, (100 * share).toFixed(2)],
    [`${PREFIX}kernels`, kernels.join(', ')],
    ...(sharedBy.size === 0 ? [] : [[`${PREFIX}time_of_fused_kernel_shared_by`, [...sharedBy].join(', ')] as const]),
  ]);
}

/**
 * Puts times into the metadata of the author's nodes.
 *
 * @param source the model's own graph
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
  const metadata = new Map([...times].map(([layer, time]) => [source.layers[layer], buildMetadata(time)] as const));
  const nodes = model.graph.nodes.map((node) =>
    metadata.has(node) ? { ...node, metadata: metadata.get(node) } : node,
  );
  const weightless = weightlessModel({ ...model, graph: { ...model.graph, nodes } });
  return { bytes: encodeModelToBytes(weightless.model), unplacedMs };
}
