import { int } from '../onnx/model/make-attributes.js';
import { fixed, type Value } from './builder.js';

/** Number of weights that share a scale: the default of ONNX Runtime's quantizer. */
const BLOCK = 32;
const BITS = 4;

/**
 * Matrix product with weights of four bits. Each block of weights has a scale, and no zero point.
 * Source: MatMulNBits in ContribOperators.md of ONNX Runtime.
 *
 * @param tied the original weight, if this weight is a quantized copy
 */
export function quantizedMatMul(x: Value, features: number, tied?: Value): Value {
  const { graph } = x;
  const inputs = fixed(x, -1);
  const blocks = Math.ceil(inputs / BLOCK);
  const packed = graph.packedWeight('quantized', [features, blocks, (BLOCK * BITS) / 8], tied);
  const bound = Math.sqrt(6 / inputs) / 2 ** (BITS - 1);
  const scales = graph.weight('scales', [features * blocks], bound / 2, bound);
  const output = { elementType: x.elementType, dims: x.dims.with(-1, features) };
  const attributes = [int('K', inputs), int('N', features), int('bits', BITS), int('block_size', BLOCK)];
  return graph.apply('MatMulNBits', [x, packed, scales], output, attributes, 'com.microsoft');
}
