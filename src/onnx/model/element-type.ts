type ElementArray =
  | typeof Float32Array
  | typeof Float64Array
  | typeof Uint8Array
  | typeof Int8Array
  | typeof Uint16Array
  | typeof Int16Array
  | typeof Uint32Array
  | typeof Int32Array
  | typeof BigUint64Array
  | typeof BigInt64Array;

/** A producer of profiles with names of element types. */
type Profiler = 'onnxruntime' | 'pytorch';

interface ElementTypeFacts {
  readonly code: number;
  /** Width of one element in raw_data; 0: variable. */
  readonly bits: number;
  readonly kind: 'float' | 'integer' | 'string' | 'boolean';
  /** Array that holds the elements as in raw_data; it holds their bits where JavaScript has no array for the type. */
  readonly array: ElementArray;
  /** Whether ONNX Runtime's JavaScript bindings accept and return it, as tested with onnxruntime-node 1.30.0. */
  readonly fed: boolean;
  /** The name of the C++ type that profiles use, where it is another name. */
  readonly calledBy?: Readonly<Partial<Record<Profiler, string>>>;
}

/** By the names of ONNX Runtime's JavaScript API. Source: TensorProto.DataType in ONNX's onnx.proto. */
export const ELEMENT_TYPES = {
  float32: {
    code: 1,
    bits: 32,
    kind: 'float',
    array: Float32Array,
    fed: true,
    calledBy: { onnxruntime: 'float', pytorch: 'float' },
  },
  uint8: { code: 2, bits: 8, kind: 'integer', array: Uint8Array, fed: true },
  int8: { code: 3, bits: 8, kind: 'integer', array: Int8Array, fed: true },
  uint16: { code: 4, bits: 16, kind: 'integer', array: Uint16Array, fed: true },
  int16: { code: 5, bits: 16, kind: 'integer', array: Int16Array, fed: true },
  int32: { code: 6, bits: 32, kind: 'integer', array: Int32Array, fed: true, calledBy: { pytorch: 'int' } },
  int64: { code: 7, bits: 64, kind: 'integer', array: BigInt64Array, fed: true, calledBy: { pytorch: 'long int' } },
  string: { code: 8, bits: 0, kind: 'string', array: Uint8Array, fed: true },
  bool: { code: 9, bits: 8, kind: 'boolean', array: Uint8Array, fed: true },
  float16: { code: 10, bits: 16, kind: 'float', array: Uint16Array, fed: true },
  float64: {
    code: 11,
    bits: 64,
    kind: 'float',
    array: Float64Array,
    fed: true,
    calledBy: { onnxruntime: 'double', pytorch: 'double' },
  },
  uint32: { code: 12, bits: 32, kind: 'integer', array: Uint32Array, fed: true },
  uint64: { code: 13, bits: 64, kind: 'integer', array: BigUint64Array, fed: true },
  bfloat16: { code: 16, bits: 16, kind: 'float', array: Uint16Array, fed: false },
  float8e4m3fn: { code: 17, bits: 8, kind: 'float', array: Uint8Array, fed: false },
  float8e4m3fnuz: { code: 18, bits: 8, kind: 'float', array: Uint8Array, fed: false },
  float8e5m2: { code: 19, bits: 8, kind: 'float', array: Uint8Array, fed: false },
  float8e5m2fnuz: { code: 20, bits: 8, kind: 'float', array: Uint8Array, fed: false },
  uint4: { code: 21, bits: 4, kind: 'integer', array: Uint8Array, fed: false },
  int4: { code: 22, bits: 4, kind: 'integer', array: Uint8Array, fed: false },
  uint2: { code: 25, bits: 2, kind: 'integer', array: Uint8Array, fed: false },
  int2: { code: 26, bits: 2, kind: 'integer', array: Uint8Array, fed: false },
} as const satisfies Readonly<Record<string, ElementTypeFacts>>;

export type ElementType = keyof typeof ELEMENT_TYPES;

export const ELEMENT_TYPE_NAMES = Object.keys(ELEMENT_TYPES) as readonly ElementType[];

const BY_CODE: ReadonlyMap<number, ElementType> = new Map(
  ELEMENT_TYPE_NAMES.map((name) => [ELEMENT_TYPES[name].code, name]),
);

export function elementTypeOfCode(code: number): ElementType | undefined {
  return BY_CODE.get(code);
}

export function isElementType(name: string): name is ElementType {
  return Object.hasOwn(ELEMENT_TYPES, name);
}

function indexProfileNames(profiler: Profiler): ReadonlyMap<string, string> {
  const types: readonly (readonly [string, ElementTypeFacts])[] = Object.entries(ELEMENT_TYPES);
  return new Map(types.flatMap(([type, { calledBy }]) => (calledBy?.[profiler] ? [[calledBy[profiler], type]] : [])));
}

const NAMES = { onnxruntime: indexProfileNames('onnxruntime'), pytorch: indexProfileNames('pytorch') };

/** The element type that a profile calls by this name; the name itself where ONNX has no other one. */
export function elementTypeOfProfile(name: string, profiler: Profiler): string {
  return NAMES[profiler].get(name) ?? name;
}

/** Bytes that `count` elements take in raw_data; sub-byte types are packed. */
export function computeByteLength(elementType: ElementType, count: number): number {
  return Math.ceil((count * ELEMENT_TYPES[elementType].bits) / 8);
}

export function tensorBytes(tensor: { readonly elementType: ElementType; readonly dims: readonly number[] }): number {
  return computeByteLength(tensor.elementType, elementCount(tensor.dims));
}

/** Whether its elements are numbers or truth values of a byte or more, apart from floats of 8 bits. */
export function hasNumbers(elementType: ElementType): boolean {
  const { kind, bits } = ELEMENT_TYPES[elementType];
  return kind !== 'string' && bits >= 8 && !elementType.startsWith('float8');
}

export function isPacked(elementType: ElementType): boolean {
  const { bits } = ELEMENT_TYPES[elementType];
  return bits > 0 && bits < 8;
}

/** Packed types are cast to it. ONNX Runtime plans one byte per packed element, and may write beyond such memory. */
export const UNPACKED = 'float32' satisfies ElementType;

export function elementCount(dims: readonly number[]): number {
  return dims.reduce((product, dim) => product * dim, 1);
}
