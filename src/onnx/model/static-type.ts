import { PlatformError } from '../../base/errors.js';
import type { DeclaredType, Model, TensorType } from './model.js';

export function findStaticType(type: DeclaredType | undefined): TensorType | undefined {
  const dims = type?.dims;
  if (type === undefined || dims === undefined || !dims.every((dim) => typeof dim === 'number')) return undefined;
  return { elementType: type.elementType, dims };
}

/** @throws PlatformError `model` where a dimension of the input is not bound */
export function staticInputType({ source, graph }: Model, name: string): TensorType {
  const type = findStaticType(graph.types.get(name));
  if (type !== undefined) return type;
  throw new PlatformError(
    'model',
    `${source}: input ${name} has no static shape; bind its dimensions in a model manifest`,
  );
}
