import { BinaryReader } from '@bufbuild/protobuf/wire';

/**
 * The values of a packed list of varints as little-endian raw_data; undefined unless there are exactly `count`.
 *
 * @param bits that an element keeps of each value: 8, 16, 32 or 64
 */
export function unpackIntegers(packed: Uint8Array, count: number, bits: number): Uint8Array | undefined {
  const bytes = new Uint8Array((count * bits) / 8);
  const view = new DataView(bytes.buffer);
  const reader = new BinaryReader(packed);
  try {
    for (let i = 0; i < count; i++) {
      if (bits === 64) view.setBigInt64(i * 8, BigInt(reader.int64()), true);
      else if (bits === 32) view.setInt32(i * 4, reader.int32(), true);
      else if (bits === 16) view.setInt16(i * 2, reader.int32(), true);
      else view.setInt8(i, reader.int32());
    }
  } catch {
    return undefined; // The reader throws where the list ends early or a varint is too long.
  }
  return reader.pos === reader.len ? bytes : undefined;
}
