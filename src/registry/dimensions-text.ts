import { boundDimensions } from '../onnx/layers/bind-dimensions.js';
import type { LoadedModel } from './load-model.js';

/** As in `seq=128, past=0`, without the batch; '' for none. */
export function dimensionsText(
  { open, model, symbols }: Pick<LoadedModel, 'open' | 'model' | 'symbols'>,
  batch: number,
): string {
  if (open === undefined) return '';
  const first = new Set(open.graph.inputs.map((name) => open.graph.types.get(name)?.dims?.[0]));
  return boundDimensions(open, model)
    .filter(({ name, size }) => symbols.includes(name) && !(first.has(name) && size === batch))
    .map(({ name, size }) => `${name}=${size}`)
    .join(', ');
}
