import { bindDimensions, dimensionNames } from '../../../../src/onnx/layers/bind-dimensions.js';
import type { LoadedModel } from '../../../../src/registry/load-model.js';
import { llamaDecoder } from '../../../../src/zoo/architectures/modern/llama.js';
import { GraphBuilder } from '../../../../src/zoo/builder.js';

const SIZE = { hidden: 64, heads: 4, keyValueHeads: 2, feedForward: 96, vocabulary: 64, tied: true };

/** A decoder of the zoo's architecture that is as small as possible, except for its number of layers. */
export function smallDecoder(
  phase: 'prefill' | 'decode',
  layers: number,
  precision: 'float32' | 'int4' = 'float32',
): LoadedModel {
  const name = `small_${phase}`;
  const builder = new GraphBuilder(name, 1);
  llamaDecoder({ ...SIZE, layers }, phase, precision)(builder);
  const open = builder.finish(`zoo:${name}`);
  const sizes = new Map([['batch', 1], phase === 'prefill' ? ['sequence', 6] : ['past', 6]] as const);
  const symbols = dimensionNames(open);
  return { name, model: bindDimensions(open, sizes, { batch: 1 }), open, symbols, notes: [], assumed: [], sizes: [] };
}
