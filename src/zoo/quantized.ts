import { int } from '../onnx/model/make-attributes.js';
import { fixed, type Value } from './builder.js';

/** Weights that share a scale; the size that ONNX Runtime's quantizer has by default. */
const BLOCK = 32;
const BITS = 4;

/**
 * Matrix product with weights of four bits in blocks that have a scale each, and no zero points.
 * Source: MatMulNBits in ContribOperators.md of ONNX Runtime.
 *
 * @param tied a weight that this one is a quantized copy of
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
