// A simple reader of Snappy's block format; source: google/snappy, format_description.txt.

/** The inverse of snappyCompress. */
export function snappyDecompress(bytes: Buffer): Buffer {
  let at = 0;
  let length = 0;
  for (let shift = 1; ; shift *= 0x80) {
    const byte = bytes.readUInt8(at++);
    length += (byte & 0x7f) * shift;
    if (byte < 0x80) break;
  }
  const out = Buffer.alloc(length);
  let written = 0;
  while (at < bytes.length) {
    const tag = bytes.readUInt8(at++);
    const kind = tag & 3;
    let size = (tag >>> 2) + 1;
    if (kind === 0) {
      const extra = Math.max(0, size - 60);
      if (extra > 0) size = bytes.readUIntLE(at, extra) + 1;
      at += extra;
      bytes.copy(out, written, at, at + size);
      at += size;
    } else {
      if (kind !== 2) throw new Error(`a copy of kind ${kind}, which the compressor never makes`);
      const offset = bytes.readUInt16LE(at);
      at += 2;
      // Byte by byte: a copy may overlap its own output.
      for (let i = 0; i < size; i++) out[written + i] = out[written + i - offset] ?? NaN;
    }
    written += size;
  }
  if (written !== length) throw new Error(`${written} bytes instead of ${length}`);
  return out;
}
