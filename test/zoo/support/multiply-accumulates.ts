import { PlatformError } from '../../../src/base/errors.js';
import { ownValue } from '../../../src/base/own-value.js';
import { dimensionExpression } from '../../../src/onnx/layers/dimension-expression.js';
import { elementCount } from '../../../src/onnx/model/element-type.js';
import type { Model, Node } from '../../../src/onnx/model/model.js';

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
