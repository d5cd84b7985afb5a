import { encodeModelToBytes } from '../../../src/onnx/write/write-model.js';
import { ints } from '../../onnx/protos.js';
import { GraphBuilder } from '../../plugins/dlbricks/support/graph-builder.js';

const CHANNELS = 16;
const IMAGE = [1, CHANNELS, 56, 56] as const;

/** Number of layers of {@link convModel}: three pairs of Conv and Relu, and a pool. */
export const CONV_LAYERS = 7;

/**
 * Three times the same convolution, each with a Relu that runtimes fuse into it, and a pool at the end. Large enough to
 * take longer than the call, small enough to be measured in a moment.
 */
export function convModel(): Uint8Array {
  const g = new GraphBuilder();
  let image = g.input('float32', IMAGE);
  for (let block = 0; block < 3; block++) {
    const weight = g.weight([CHANNELS, CHANNELS, 3, 3], CHANNELS * 9);
    image = g.layer('Relu', [g.layer('Conv', [image, weight], IMAGE, [ints('pads', [1, 1, 1, 1])])], IMAGE);
  }
  return encodeModelToBytes(g.model([g.layer('GlobalAveragePool', [image], [1, CHANNELS, 1, 1])]));
}
