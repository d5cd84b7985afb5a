import { int } from '../../../onnx/model/make-attributes.js';
import { fixed, type Value } from '../../builder.js';
import { conv, globalAveragePool, linear, type MakeWeights, maxPool, residual, shortcutTo } from '../../convolution.js';
import type { ZooEntry } from '../../entry.js';
import { chain, flatten, imageNetwork, type Layer, relu } from '../../tensor.js';
import { stages } from '../resnet.js';

/** To 8 bits and back, as quantizers do around every operator. */
const quantized: Layer = (x) => {
  const { graph } = x;
  const parameters = [graph.scalar('scale', 0.05), graph.zeros('zero_point', 'uint8', [])];
  const small = graph.apply('QuantizeLinear', [x, ...parameters], { elementType: 'uint8', dims: x.dims });
  return graph.apply('DequantizeLinear', [small, ...parameters], x);
};

/** With a scale and a zero point for each output. */
function dequantized(integers: Value, type: 'int8' | 'int32', scale: readonly [number, number]): Value {
  const { graph } = integers;
  const dims = [fixed(integers, 0)];
  const inputs = [integers, graph.weight('scale', dims, ...scale), graph.zeros('zero_point', type, dims)];
  return graph.apply('DequantizeLinear', inputs, { elementType: 'float32', dims: integers.dims }, [int('axis', 0)]);
}

const weights: MakeWeights = ({ graph }, dims, fanIn) => {
  const bound = Math.sqrt(6 / fanIn) / 127;
  return [
    dequantized(graph.integerWeight('weight', 'int8', dims, 127), 'int8', [bound / 2, bound]),
    dequantized(graph.integerWeight('bias', 'int32', dims.slice(0, 1), 100), 'int32', [0.0005, 0.001]),
  ];
};

function convolution(channels: number, kernel: number, stride = 1): Layer {
  return conv(channels, kernel, { stride, padding: (kernel - 1) / 2, weights });
}

const convRelu = (channels: number, kernel: number, stride = 1): Layer =>
  chain(convolution(channels, kernel, stride), relu, quantized);

function block(width: number, stride: number): Layer {
  const body = chain(convRelu(width, 1), convRelu(width, 3, stride), convolution(4 * width, 1), quantized);
  const projection = chain(convolution(4 * width, 1, stride), quantized);
  return chain(residual(body, shortcutTo(4 * width, stride, projection)), relu, quantized);
}

export function quantizedResnet(depths: readonly number[], size = 224) {
  return imageNetwork(
    size,
    quantized,
    convRelu(64, 7, 2),
    maxPool(3, { stride: 2, padding: 1 }),
    quantized,
    stages(block, 64, depths),
    globalAveragePool,
    quantized,
    flatten,
    quantized,
    linear(1000, weights),
  );
}

/** After static quantization. */
export const resnet50Int8: ZooEntry = {
  name: 'resnet50_int8',
  title: 'ResNet-50, 8 bits (QDQ)',
  paper: 'He et al., Deep Residual Learning for Image Recognition, CVPR 2016, arXiv:1512.03385',
  parameters: 25_557_032 - 26_560,
  multiplyAccumulates: 4_089_000_000,
  source:
    'torchvision ResNet50_Weights.IMAGENET1K_V1: num_params, _ops; without one of the two numbers that a ' +
    'normalization has for each channel, because normalizations are folded into convolutions',
  dimensions: { batch: 1 },
  define: quantizedResnet([3, 4, 6, 3]),
};
