import type { ElementType } from '../../src/onnx/model/element-type.js';
import type { TensorProto } from '../../src/generated/onnx/onnx.js';
import { floats, int, ints, model, node, tensor, value } from './protos.js';

/** How a quantized convolution differs from one that a quantizer writes. */
export interface QuantizedConvOptions {
  /** The operator between the convolution and its quantization, reading `conv` and writing `activated`. */
  readonly activation?: 'Relu' | 'Clip';
  /** Zero point of the output, a uint8. */
  readonly zeroPoint?: number;
  /** Scale of the output. */
  readonly scale?: number;
  /** Factor of the scale of the bias: 1 makes it the product of the other two. */
  readonly biasFactor?: number;
}

const CHANNELS = 8;

function integers(name: string, elementType: ElementType, values: readonly number[], dims: number[]): TensorProto {
  const array = elementType === 'int32' ? Int32Array : elementType === 'int8' ? Int8Array : Uint8Array;
  return tensor(name, elementType, dims, { rawData: new Uint8Array(array.from(values).buffer) });
}

/**
 * x ─► Q ─► DQ ─► Conv (─► activation) ─► Q ─► DQ ─► MaxPool ─► Q ─► DQ ─► y as quantizers write it: weights int8 with a scale for each
 * channel, a bias int32 in the scale of the products, and the pool's output in the scale of its input.
 */
export function quantizedConv(options: QuantizedConvOptions = {}): Uint8Array {
  const { activation, zeroPoint = 0, scale = 0.0213, biasFactor = 1 } = options;
  const inputScale = Math.fround(0.0123);
  const channels = Array.from({ length: CHANNELS }, (_, channel) => channel);
  const weightScales = channels.map((channel) => Math.fround(0.0101 + 0.0007 * channel));
  const weights = Array.from({ length: CHANNELS * 4 * 9 }, (_, index) => ((index * 37) % 255) - 127);
  const activated = activation === undefined ? 'conv' : 'activated';
  return model({
    input: [value('x', [1, 4, 16, 16])],
    node: [
      node('QuantizeLinear', ['x', 'x_scale', 'x_zero'], ['xq']),
      node('DequantizeLinear', ['xq', 'x_scale', 'x_zero'], ['xd']),
      node('DequantizeLinear', ['w', 'w_scale', 'w_zero'], ['wd'], [int('axis', 0)]),
      node('DequantizeLinear', ['b', 'b_scale', 'b_zero'], ['bd'], [int('axis', 0)]),
      node('Conv', ['xd', 'wd', 'bd'], ['conv'], [ints('kernel_shape', [3, 3])]),
      ...(activation === 'Relu' ? [node('Relu', ['conv'], ['activated'])] : []),
      ...(activation === 'Clip' ? [node('Clip', ['conv', 'zero', 'six'], ['activated'])] : []),
      node('QuantizeLinear', [activated, 'y_scale', 'y_zero'], ['yq']),
      node('DequantizeLinear', ['yq', 'y_scale', 'y_zero'], ['yd']),
      node('MaxPool', ['yd'], ['pooled'], [ints('kernel_shape', [2, 2]), ints('strides', [2, 2])]),
      node('QuantizeLinear', ['pooled', 'p_scale', 'p_zero'], ['pq']),
      node('DequantizeLinear', ['pq', 'p_scale', 'p_zero'], ['y']),
    ],
    output: [value('y', [1, CHANNELS, 7, 7])],
    initializer: [
      floats('x_scale', [inputScale], []),
      integers('x_zero', 'uint8', [113], []),
      integers('w', 'int8', weights, [CHANNELS, 4, 3, 3]),
      floats('w_scale', weightScales),
      integers('w_zero', 'int8', channels.fill(0), [CHANNELS]),
      integers('b', 'int32', channels, [CHANNELS]),
      floats(
        'b_scale',
        weightScales.map((one) => inputScale * one * biasFactor),
      ),
      integers('b_zero', 'int32', channels, [CHANNELS]),
      floats('zero', [0], []),
      floats('six', [6], []),
      floats('y_scale', [scale], []),
      integers('y_zero', 'uint8', [zeroPoint], []),
      floats('p_scale', [scale], []),
      integers('p_zero', 'uint8', [zeroPoint], []),
    ],
  });
}
