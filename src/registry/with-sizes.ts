import { PlatformError } from '../base/errors.js';
import { bindDimensions, boundDimensions } from '../onnx/layers/bind-dimensions.js';
import { dimensionExpression } from '../onnx/layers/dimension-expression.js';
import { withInputValues } from '../onnx/values/given-values.js';
import { dimensionsBesideBatch } from './dimensions-text.js';
import { type LoadedModel, type SizeOptions, countTokens } from './load-model.js';

/**
 * @param bound the size of the batch now
 * @throws PlatformError `model` without an open batch dimension, `usage` where input values do not fit
 */
export function withSizes(
  loaded: LoadedModel,
  bound: number,
  { batch, dimensions = new Map() }: Pick<SizeOptions, 'batch' | 'dimensions'>,
): LoadedModel {
  const { name, model, open, symbols } = loaded;
  const asked = [...dimensions].filter(([of]) => symbols.includes(of));
  if (batch === bound && asked.length === 0) return loaded;
  if (open === undefined) {
    const fixed = model.graph.inputs.map((input) => model.graph.types.get(input)?.dims?.[0]);
    if (fixed.includes(batch)) return loaded;
    const problem = `${name} has a fixed batch of ${fixed[0] ?? bound}, so it cannot run a batch of ${batch}`;
    throw new PlatformError('model', `${problem}; export it with a named batch dimension`);
  }
  const others = dimensionsBesideBatch(open, model, bound);
  const sizes = new Map<string, number>([...others.map(({ name: of, size }) => [of, size] as const), ...asked]);
  // Expressions of other dimensions are computed again.
  for (const of of sizes.keys()) {
    const names = dimensionExpression(of)?.names ?? [];
    if (names.some((one) => dimensions.has(one)) || (names.length > 0 && names.every((one) => sizes.has(one)))) {
      sizes.delete(of);
    }
  }
  const rebound = withInputValues(bindDimensions(open, sizes, { batch }), model.graph.given ?? new Map());
  const shown = new Set([...loaded.sizes.map(({ name: of }) => of), ...asked.map(([of]) => of)]);
  return {
    ...loaded,
    model: rebound,
    sizes: boundDimensions(open, rebound).filter(({ name: of }) => shown.has(of)),
    tokens: countTokens(rebound, symbols),
  };
}
