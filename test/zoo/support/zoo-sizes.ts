import { oncePer } from '../../../src/base/once-per.js';
import { countLayers } from '../../../src/onnx/layers/layer-graph.js';
import { countParameters } from '../../../src/zoo/counts.js';
import type { ZooEntry } from '../../../src/zoo/entry.js';
import { buildZooModel } from '../../../src/zoo/zoo.js';
import { countMultiplyAccumulates } from './multiply-accumulates.js';

/** What an architecture has with its default dimensions, counted once in a process: tests of docs/zoo.md ask again. */
export const zooSizes = oncePer(({ name, dimensions }: ZooEntry) => {
  const model = buildZooModel(name);
  return {
    layers: countLayers(model),
    parameters: countParameters(model),
    multiplyAccumulates: countMultiplyAccumulates(model, dimensions),
  };
});
