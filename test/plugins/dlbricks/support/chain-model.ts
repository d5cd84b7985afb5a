import type { PreparedModel } from '../../../../plugins/dlbricks/bricks/prepare-model.js';
import { decomposeModel } from '../../../../plugins/dlbricks/bricks/unique-bricks.js';
import type { LoadedModel } from '../../../../src/registry/load-model.js';
import { weightlessBenchmark } from '../../../../src/measurement/weightless.js';
import { layerGraph } from '../../../../src/onnx/layers/layer-graph.js';
import type { Model } from '../../../../src/onnx/model/model.js';
import { GraphBuilder } from './graph-builder.js';

/** Layers one after another, each with one input and one output of the same shape. */
export function chainModel(...operators: readonly string[]): Model {
  const g = new GraphBuilder();
  let x = g.input('float32', [1, 4]);
  for (const operator of operators) x = g.layer(operator, [x], [1, 4]);
  return g.model([x]);
}

export function loadedChain(name: string, ...operators: readonly string[]): LoadedModel {
  return { name, model: chainModel(...operators), symbols: [], notes: [], assumed: [], sizes: [] };
}

/** A chain in bricks of one layer. */
export function preparedChain(name: string, ...operators: readonly string[]): PreparedModel {
  const model = chainModel(...operators);
  return { ...decomposeModel(name, layerGraph(model), 1), whole: weightlessBenchmark(model), costMs: 0 };
}
