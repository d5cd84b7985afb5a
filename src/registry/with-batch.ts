import { PlatformError } from '../base/errors.js';
import { bindDimensions } from '../onnx/layers/bind-dimensions.js';
import { boundDimensions } from '../onnx/layers/bound-dimensions.js';
import type { LoadedModel } from './load-model.js';

/**
 * The same model with another size of the batch; all other dimensions keep their sizes.
 *
 * @param bound the size of its batch now
 * @throws PlatformError `model` where it has no open batch dimension
 */
export function withBatch(loaded: LoadedModel, bound: number, batch: number): LoadedModel {
  if (batch === bound) return loaded;
  const { name, model, open } = loaded;
  if (open === undefined) {
    const problem = `${name} has a fixed batch of ${bound}, so it cannot run a batch of ${batch}`;
    throw new PlatformError('model', `${problem}; export it with a named batch dimension`);
  }
  const first = new Set(open.graph.inputs.map((input) => open.graph.types.get(input)?.dims?.[0]));
  const others = boundDimensions(open, model).filter(({ name: of, size }) => !(first.has(of) && size === bound));
  const sizes = new Map(others.map(({ name: of, size }) => [of, size]));
  const rebound = bindDimensions(open, sizes, { batch });
  const { given } = model.graph;
  return { ...loaded, model: given === undefined ? rebound : { ...rebound, graph: { ...rebound.graph, given } } };
}
