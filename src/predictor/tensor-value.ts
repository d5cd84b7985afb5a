import type { ElementType } from '../onnx/element-type.js';

/** A tensor in memory. */
export interface TensorValue {
  readonly elementType: ElementType;
  readonly dims: readonly number[];
  /** Little-endian, as in TensorProto.raw_data; empty for strings. Starts at a multiple of 8 in its buffer. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export type NumberArray =
  Float32Array | Float64Array | Uint8Array | Int8Array | Uint16Array | Int16Array | Int32Array | Uint32Array;

/** The elements of a tensor: without a copy, one array element each, sub-byte types packed. */
export function elementsOf({ elementType, bytes }: TensorValue): NumberArray | BigInt64Array | BigUint64Array {
  const { buffer, byteOffset, byteLength } = bytes;
  switch (elementType) {
    case 'float32':
      return new Float32Array(buffer, byteOffset, byteLength / 4);
    case 'float64':
      return new Float64Array(buffer, byteOffset, byteLength / 8);
    case 'float16':
    case 'bfloat16':
    case 'uint16':
      return new Uint16Array(buffer, byteOffset, byteLength / 2);
    case 'int16':
      return new Int16Array(buffer, byteOffset, byteLength / 2);
    case 'int32':
      return new Int32Array(buffer, byteOffset, byteLength / 4);
    case 'uint32':
      return new Uint32Array(buffer, byteOffset, byteLength / 4);
    case 'int64':
      return new BigInt64Array(buffer, byteOffset, byteLength / 8);
    case 'uint64':
      return new BigUint64Array(buffer, byteOffset, byteLength / 8);
    case 'int8':
      return new Int8Array(buffer, byteOffset, byteLength);
    default:
      return bytes;
  }
}
