import { PlatformError } from '../base/errors.js';
import { ownValue } from '../base/own-value.js';
import { dimensionExpression } from '../onnx/layers/dimension-expression.js';
import { elementCount } from '../onnx/model/element-type.js';
import type { Model, Node } from '../onnx/model/model.js';

/** Inputs of BatchNormalization that training measures instead of learning: mean and variance. */
const STATISTICS_INPUTS = [3, 4] as const;

/** Operators whose second input is the scale of a quantization. */
const SCALING: ReadonlySet<string> = new Set(['QuantizeLinear', 'DequantizeLinear']);

/**
 * Trainable parameters of a model of the zoo, as papers and frameworks count them: without batch normalization's
 * running statistics, without scales of quantized weights, and a tied weight (one that shares its seed) once.
 */
export function countParameters({ graph }: Model): number {
  const statistics = new Set(
    graph.nodes
      .filter((node) => node.opType === 'BatchNormalization')
      .flatMap((node) => STATISTICS_INPUTS.map((i) => node.inputs[i])),
  );
  const quantized = graph.nodes.filter(({ opType }) => opType === 'MatMulNBits');
  const packed = new Set(quantized.map(({ inputs }) => inputs[1]));
  const scaling = graph.nodes.filter(({ opType }) => SCALING.has(opType));
  const scales = new Set([...quantized.map(({ inputs }) => inputs[2]), ...scaling.map(({ inputs }) => inputs[1])]);
  const counted = new Set<number>();
  let parameters = 0;
  for (const [name, { data, dims }] of graph.initializers) {
    if (data.kind !== 'fill' || statistics.has(name) || scales.has(name) || counted.has(data.fill.seed)) continue;
    counted.add(data.fill.seed);
    parameters += elementCount(dims) * (packed.has(name) ? 2 : 1);
  }
  return parameters;
}

/** The size of a symbol, or of an expression of symbols. */
function sizeOf(dim: string, dimensions: Readonly<Record<string, number>>): number | undefined {
  return ownValue(dimensions, dim) ?? dimensionExpression(dim)?.size(new Map(Object.entries(dimensions)));
}

/** Dimensions of a value with its symbols bound. */
function dimsOf(model: Model, name: string, dimensions: Readonly<Record<string, number>>): number[] {
  const { initializers, types } = model.graph;
  const dims = initializers.get(name)?.dims ?? types.get(name)?.dims;
  if (dims === undefined) throw new PlatformError('model', `${model.source}: the shape of ${name} is not known`);
  return dims.map((dim) => {
    const size = typeof dim === 'number' ? dim : sizeOf(dim, dimensions);
    if (size !== undefined) return size;
    throw new PlatformError('model', `${model.source}: ${name} has the dimension ${dim}: say how large it is`);
  });
}

/**
 * Multiply-accumulates of one inference by Conv, ConvTranspose, Gemm, MatMul, MatMulNBits and LSTM, as torchvision
 * counts its `_ops`. Biases, activations and everything else are left out.
 *
 * @param dimensions the sizes of the symbolic dimensions
 * @throws PlatformError model if a shape is unknown or has a symbol without a size
 */
export function countMultiplyAccumulates(model: Model, dimensions: Readonly<Record<string, number>>): number {
  const products = (node: Node): number => {
    const [, factor = ''] = node.inputs;
    const [output = ''] = node.outputs;
    const outputs = (): number => elementCount(dimsOf(model, output, dimensions));
    const factorDims = (): number[] => dimsOf(model, factor, dimensions);
    switch (node.opType) {
      case 'Conv':
        return outputs() * elementCount(factorDims().slice(1));
      case 'ConvTranspose':
        return elementCount(dimsOf(model, node.inputs[0] ?? '', dimensions)) * elementCount(factorDims().slice(1));
      case 'Gemm':
        return outputs() * (factorDims()[isTransposed(node) ? 1 : 0] ?? 1);
      case 'LSTM': {
        // Each step multiplies the input and the previous state with the matrices of the four gates.
        const [sequence = 1, , batch = 1] = dimsOf(model, output, dimensions);
        const state = dimsOf(model, node.inputs[2] ?? '', dimensions);
        return sequence * batch * (elementCount(factorDims()) + elementCount(state));
      }
      case 'MatMulNBits':
        return outputs() * Number(node.attributes.find(({ name }) => name === 'K')?.i ?? 1);
      case 'MatMul':
        return outputs() * (factorDims().at(-2) ?? 1);
      default:
        return 0;
    }
  };
  return model.graph.nodes.reduce((sum, node) => sum + products(node), 0);
}

/** Whether Gemm's second factor is stored with its columns first. */
function isTransposed(node: Node): boolean {
  return node.attributes.some(({ name, i }) => name === 'transB' && i === 1n);
}
