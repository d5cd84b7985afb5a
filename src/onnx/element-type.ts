/**
 * ONNX element types by the name that ONNX Runtime's JavaScript API gives them.
 * `code` is TensorProto.DataType, `bits` the width of one element in raw_data (0: variable).
 * Source: TensorProto.DataType in the ONNX project's onnx.proto.
 */
export const ELEMENT_TYPES = {
  float32: { code: 1, bits: 32, kind: 'float' },
  uint8: { code: 2, bits: 8, kind: 'integer' },
  int8: { code: 3, bits: 8, kind: 'integer' },
  uint16: { code: 4, bits: 16, kind: 'integer' },
  int16: { code: 5, bits: 16, kind: 'integer' },
  int32: { code: 6, bits: 32, kind: 'integer' },
  int64: { code: 7, bits: 64, kind: 'integer' },
  string: { code: 8, bits: 0, kind: 'string' },
  bool: { code: 9, bits: 8, kind: 'boolean' },
  float16: { code: 10, bits: 16, kind: 'float' },
  float64: { code: 11, bits: 64, kind: 'float' },
  uint32: { code: 12, bits: 32, kind: 'integer' },
  uint64: { code: 13, bits: 64, kind: 'integer' },
  bfloat16: { code: 16, bits: 16, kind: 'float' },
  float8e4m3fn: { code: 17, bits: 8, kind: 'float' },
  float8e4m3fnuz: { code: 18, bits: 8, kind: 'float' },
  float8e5m2: { code: 19, bits: 8, kind: 'float' },
  float8e5m2fnuz: { code: 20, bits: 8, kind: 'float' },
  uint4: { code: 21, bits: 4, kind: 'integer' },
  int4: { code: 22, bits: 4, kind: 'integer' },
} as const satisfies Record<string, { code: number; bits: number; kind: 'float' | 'integer' | 'string' | 'boolean' }>;

export type ElementType = keyof typeof ELEMENT_TYPES;

const BY_CODE = new Map<number, ElementType>(
  (Object.keys(ELEMENT_TYPES) as ElementType[]).map((name) => [ELEMENT_TYPES[name].code, name]),
);

/** The element type with this TensorProto.DataType, or undefined where this project does not know it. */
export function elementTypeOfCode(code: number): ElementType | undefined {
  return BY_CODE.get(code);
}

export function isElementType(name: string): name is ElementType {
  return Object.hasOwn(ELEMENT_TYPES, name);
}

/** Bytes that `count` elements take in raw_data; sub-byte types are packed. */
export function byteLengthOf(elementType: ElementType, count: number): number {
  return Math.ceil((count * ELEMENT_TYPES[elementType].bits) / 8);
}

/** Number of elements of a tensor with these dimensions; 1 for a scalar. */
export function elementCount(dims: readonly number[]): number {
  return dims.reduce((product, dim) => product * dim, 1);
}
