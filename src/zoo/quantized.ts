import { int } from '../onnx/model/make-attributes.js';
import { fixed, type Value } from './builder.js';

/** Weights that share a scale: the default of ONNX Runtime's quantizer. */
const BLOCK = 32;
const BITS = 4;

/** Source: MatMulNBits in ContribOperators.md of ONNX Runtime. @param tied the weight that this one is a copy of */
export function quantizedMatMul(x: Value, features: number, tied?: Value): Value {
  const { graph } = x;
  const inputs = fixed(x, -1);
  const blocks = Math.ceil(inputs / BLOCK);
  const packed = graph.packedWeight('quantized', [features, blocks, (BLOCK * BITS) / 8], tied);
  const bound = Math.sqrt(6 / inputs) / 2 ** (BITS - 1);
  const scales = graph.weight('scales', [features * blocks], bound / 2, bound);
  const attributes = [int('K', inputs), int('N', features), int('bits', BITS), int('block_size', BLOCK)];
  return graph.apply('MatMulNBits', [x, packed, scales], x.dims.with(-1, features), attributes, 'com.microsoft');
}
