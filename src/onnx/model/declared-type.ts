import type { TypeProto, ValueInfoProto } from '../../generated/onnx/onnx.js';
import { elementTypeOfCode } from './element-type.js';
import type { DeclaredType, Dimension } from './model.js';

export type TypeReading = { readonly type: DeclaredType } | { readonly type: undefined; readonly insteadOf: string };

/** Descriptions of the cases of TypeProto that are not tensors. */
const OTHER_TYPES = {
  sequenceType: 'a sequence',
  mapType: 'a map',
  sparseTensorType: 'a sparse tensor',
  optionalType: 'an optional value',
} as const;

/** The dimension of a stated size; undefined for a size that no tensor has. */
function readDimension(value: bigint): Dimension | undefined {
  // Some exporters write -1 for a size that they do not know.
  if (value < 0n) return '';
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : undefined;
}

export function readType(proto: TypeProto | undefined): TypeReading {
  const value = proto?.value;
  if (value === undefined) return { type: undefined, insteadOf: 'a value without a type' };
  if (value.$case !== 'tensorType') return { type: undefined, insteadOf: OTHER_TYPES[value.$case] };
  const { elemType, shape } = value.value;
  const elementType = elementTypeOfCode(elemType);
  if (elementType === undefined)
    return {
      type: undefined,
      insteadOf: `a tensor of an element type that is not supported (number ${elemType} of TensorProto.DataType)`,
    };
  if (shape === undefined) return { type: { elementType, dims: undefined } };
  const dims: Dimension[] = [];
  for (const { value: dim } of shape.dim) {
    const read = dim === undefined ? '' : dim.$case === 'dimParam' ? dim.value : readDimension(dim.value);
    if (read === undefined) return { type: undefined, insteadOf: `a tensor of the impossible size ${dim?.value}` };
    dims.push(read);
  }
  return { type: { elementType, dims } };
}

/** Of values that are known to be tensors. Where one appears twice, its first type with a shape counts. */
export function tensorTypes(infos: Iterable<ValueInfoProto>): Map<string, DeclaredType> {
  const types = new Map<string, DeclaredType>();
  for (const { name, type: proto } of infos) {
    const { type } = readType(proto);
    if (type !== undefined && types.get(name)?.dims === undefined) types.set(name, type);
  }
  return types;
}
