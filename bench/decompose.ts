import { decomposeModel } from '../plugins/dlbricks/bricks/unique-bricks.js';
import { bindDimensions } from '../src/onnx/layers/bind-dimensions.js';
import { layerGraph, type LayerGraph } from '../src/onnx/layers/layer-graph.js';
import { buildZooModel, CLASSICS, zooEntry } from '../src/zoo/zoo.js';

/** The layers of a zoo model at batch 1. */
export function zooLayers(name: string): LayerGraph {
  const dimensions = new Map(Object.entries(zooEntry(name).dimensions));
  return layerGraph(bindDimensions(buildZooModel(name), dimensions, { batch: 1 }));
}

export interface DecomposeBenchmark {
  /** The zoo model with the most layers. */
  readonly model: string;
  readonly layers: number;
  readonly layersPerSecond: number;
}

const REPETITIONS = 20;

/** From a graph to its unique bricks at G = 1: cutting, canonical form, hashing. The median of 20 repetitions. */
export function benchmarkDecompose(): DecomposeBenchmark {
  const graphs = CLASSICS.map(({ name }) => ({ model: name, graph: zooLayers(name) }));
  const largest = graphs.reduce((a, b) => (b.graph.layers.length > a.graph.layers.length ? b : a));
  const layers = largest.graph.layers.length;
  const seconds = Array.from({ length: REPETITIONS }, () => {
    const start = performance.now();
    decomposeModel(largest.model, largest.graph, 1);
    return (performance.now() - start) / 1000;
  }).sort((a, b) => a - b);
  return { model: largest.model, layers, layersPerSecond: layers / (seconds[REPETITIONS / 2] ?? 1) };
}
