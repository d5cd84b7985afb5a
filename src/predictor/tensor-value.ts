import { ELEMENT_TYPES, type ElementType } from '../onnx/model/element-type.js';

export interface TensorValue {
  readonly elementType: ElementType;
  readonly dims: readonly number[];
  /** Little-endian, as in TensorProto.raw_data; empty for strings. Starts at a multiple of 8 in its buffer. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** For a tensor of strings that is fed. */
  readonly strings?: readonly string[] | undefined;
}

export type NumberArray =
  Float32Array | Float64Array | Uint8Array | Int8Array | Uint16Array | Int16Array | Int32Array | Uint32Array;

/** Without a copy; elements of sub-byte types are packed. */
export function elementsOf({ elementType, bytes }: TensorValue): NumberArray | BigInt64Array | BigUint64Array {
  const { array } = ELEMENT_TYPES[elementType];
  return new array(bytes.buffer, bytes.byteOffset, bytes.length / array.BYTES_PER_ELEMENT);
}
