import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

// Pieces of protobuf's wire format. Source: https://protobuf.dev/programming-guides/encoding/

/** The encoded tag of a field that holds bytes, a text or a message. */
export function bytesTag(fieldNumber: number): Uint8Array {
  return new BinaryWriter().tag(fieldNumber, WireType.LengthDelimited).finish();
}

export function varint(value: number): Uint8Array {
  return new BinaryWriter().uint64(value).finish();
}
