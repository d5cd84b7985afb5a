import { PlatformError } from '../../../src/base/errors.js';
import { ownValue } from '../../../src/base/own-value.js';
import { dimensionExpression } from '../../../src/onnx/layers/dimension-expression.js';
import type { Model } from '../../../src/onnx/model/model.js';
import { multiplyAccumulates } from '../../../src/onnx/operators/multiply-accumulates.js';

/** The size of a symbol, or of an expression of symbols. */
function sizeOf(dim: string, dimensions: Readonly<Record<string, number>>): number | undefined {
  return ownValue(dimensions, dim) ?? dimensionExpression(dim)?.size(new Map(Object.entries(dimensions)));
}

/** Dimensions of a value as the graph has them; undefined where it has none. */
function declaredDims({ graph }: Model, name: string): readonly (number | string)[] | undefined {
  return graph.initializers.get(name)?.dims ?? graph.types.get(name)?.dims;
}

/**
 * Multiply-accumulates of one inference, as torchvision counts its `_ops`. Biases, activations and everything else are
 * left out.
 *
 * @param dimensions the sizes of the symbolic dimensions
 * @throws PlatformError model if a shape that decides the count is unknown or has a symbol without a size
 */
export function countMultiplyAccumulates(model: Model, dimensions: Readonly<Record<string, number>>): number {
  const bound = (dim: number | string): number | undefined => (typeof dim === 'number' ? dim : sizeOf(dim, dimensions));
  const dims = (names: readonly string[]): (readonly number[] | undefined)[] => {
    return names.map((name) => {
      const sizes = declaredDims(model, name)?.map(bound);
      return sizes?.every((size) => size !== undefined) ? sizes : undefined;
    });
  };
  return model.graph.nodes.reduce((sum, { opType, name, attributes, inputs, outputs }) => {
    const integer = (wanted: string): number | undefined => {
      const attribute = attributes.find((candidate) => candidate.name === wanted);
      return attribute && Number(attribute.i);
    };
    const sized = { operator: opType, inputs: dims(inputs), outputs: dims(outputs), integer };
    const count = multiplyAccumulates(sized);
    if (count !== undefined) return sum + count;
    const open = [...inputs, ...outputs].flatMap((value) => declaredDims(model, value) ?? []);
    const named = [...new Set(open.filter((dim) => bound(dim) === undefined))].join(', ');
    const problem = named === '' ? 'a shape is not known' : `say how large these dimensions are: ${named}`;
    throw new PlatformError('model', `${model.source}: ${opType} ${name}: ${problem}`);
  }, 0);
}
