import { bindDimensions } from '../../../src/onnx/layers/bind-dimensions.js';
import { layerGraph } from '../../../src/onnx/layers/layer-graph.js';
import { totalWork, workOfLayers } from '../../../src/onnx/layers/work-of-layers.js';
import type { Model } from '../../../src/onnx/model/model.js';

/**
 * Multiply-accumulates of one inference, as `dlbricks layers` counts them.
 *
 * @param dimensions the sizes of the symbolic dimensions
 */
export function countMultiplyAccumulates(model: Model, dimensions: Readonly<Record<string, number>>): number {
  const { batch = 1 } = dimensions;
  const graph = layerGraph(bindDimensions(model, new Map(Object.entries(dimensions)), { batch }));
  return totalWork(graph, workOfLayers(graph)).multiplyAccumulates;
}
