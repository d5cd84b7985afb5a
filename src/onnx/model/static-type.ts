import type { DeclaredType, TensorType } from './model.js';

export function findStaticType(type: DeclaredType | undefined): TensorType | undefined {
  const dims = type?.dims;
  if (type === undefined || dims === undefined || !dims.every((dim) => typeof dim === 'number')) return undefined;
  return { elementType: type.elementType, dims };
}
