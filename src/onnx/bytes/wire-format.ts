import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

// Pieces of protobuf's wire format. Source: https://protobuf.dev/programming-guides/encoding/

export function bytesTag(fieldNumber: number): Uint8Array {
  return new BinaryWriter().tag(fieldNumber, WireType.LengthDelimited).finish();
}

export function decodeFieldNumber(tag: number): number {
  return tag >>> 3;
}

/** The encoding of the value that follows a tag. In a damaged file, the number may be no wire type. */
export function decodeWireType(tag: number): WireType {
  return tag & 7;
}

export function varint(value: number): Uint8Array {
  return new BinaryWriter().uint64(value).finish();
}
