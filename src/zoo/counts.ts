import { PlatformError } from '../base/errors.js';
import { ownValue } from '../base/own-value.js';
import { elementCount } from '../onnx/model/element-type.js';
import type { Model, Node } from '../onnx/model/model.js';

/** Inputs of BatchNormalization that training measures instead of learning: mean and variance. */
const STATISTICS_INPUTS = [3, 4] as const;

/**
 * Trainable parameters of a model of the zoo, as papers and frameworks count them: without batch normalization's
 * running statistics, and a tied weight (one that shares its seed) once.
 */
export function countParameters({ graph }: Model): number {
  const statistics = new Set(
    graph.nodes
      .filter((node) => node.opType === 'BatchNormalization')
      .flatMap((node) => STATISTICS_INPUTS.map((i) => node.inputs[i])),
  );
  const counted = new Set<number>();
  let parameters = 0;
  for (const [name, { data, dims }] of graph.initializers) {
    if (data.kind !== 'fill' || statistics.has(name) || counted.has(data.fill.seed)) continue;
    counted.add(data.fill.seed);
    parameters += elementCount(dims);
  }
  return parameters;
}

/** Dimensions of a value with its symbols bound. */
function dimsOf(model: Model, name: string, dimensions: Readonly<Record<string, number>>): number[] {
  const { initializers, types } = model.graph;
  const dims = initializers.get(name)?.dims ?? types.get(name)?.dims;
  if (dims === undefined) throw new PlatformError('model', `${model.source}: the shape of ${name} is not known`);
  return dims.map((dim) => {
    const size = typeof dim === 'number' ? dim : ownValue(dimensions, dim);
    if (size !== undefined) return size;
    throw new PlatformError('model', `${model.source}: ${name} has the dimension ${dim}: say how large it is`);
  });
}

/**
 * Multiply-accumulates of one inference by Conv, ConvTranspose, Gemm and MatMul, as torchvision counts its `_ops`. Biases, activations
 * and everything else are left out.
 *
 * @param dimensions what symbolic dimensions are bound to
 * @throws PlatformError model where a shape is unknown or has a symbol that is not bound
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
