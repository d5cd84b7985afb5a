import type { DeclaredType, TensorType } from './model.js';

/** A declared type all of whose dimensions are known; undefined for any other. */
export function staticTypeOf(type: DeclaredType | undefined): TensorType | undefined {
  const dims = type?.dims;
  if (type === undefined || dims === undefined || !dims.every((dim) => typeof dim === 'number')) return undefined;
  return { elementType: type.elementType, dims };
}
