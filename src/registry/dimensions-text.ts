import { type BoundDimension, boundDimensions } from '../onnx/layers/bind-dimensions.js';
import type { Model } from '../onnx/model/model.js';
import type { LoadedModel } from './load-model.js';

/** Without the first ones of inputs that have the batch's size. */
export function dimensionsBesideBatch(open: Model, bound: Model, batch: number): readonly BoundDimension[] {
  const first = new Set(open.graph.inputs.map((name) => open.graph.types.get(name)?.dims?.[0]));
  return boundDimensions(open, bound).filter(({ name, size }) => !(first.has(name) && size === batch));
}

/** As in `seq=128, past=0`, without the batch; '' for none. */
export function dimensionsText(
  { open, model, symbols }: Pick<LoadedModel, 'open' | 'model' | 'symbols'>,
  batch: number,
): string {
  if (open === undefined) return '';
  return dimensionsBesideBatch(open, model, batch)
    .filter(({ name }) => symbols.includes(name))
    .map(({ name, size }) => `${name}=${size}`)
    .join(', ');
}
