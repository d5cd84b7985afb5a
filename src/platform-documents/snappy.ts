import { varint } from '../onnx/bytes/wire-format.js';

/*
 * Source: google/snappy, format_description.txt: the text's length as a varint, then literals and copies of earlier
 * bytes. The one library that needs no compiler has had no release since 2022.
 */

/** Copies of fewer bytes save nothing. */
const MIN_COPY_LENGTH = 4;
/** Most bytes of one copy element, and its largest offset. */
const MAX_COPY_LENGTH = 64;
const FARTHEST = 0xffff;

const HASH_BITS = 14;

/** Lengths up to 60 are in the tag, others in the four bytes after it. */
function literalTag(length: number): readonly number[] {
  if (length <= 60) return [(length - 1) << 2];
  const less = length - 1;
  return [63 << 2, less & 0xff, (less >>> 8) & 0xff, (less >>> 16) & 0xff, less >>> 24];
}

function copyTag(offset: number, length: number): readonly number[] {
  return [((length - 1) << 2) | 2, offset & 0xff, offset >>> 8];
}

export function snappyCompress(input: Buffer): Buffer {
  const parts = [varint(input.length)];
  /** By hash, the last position of four bytes with it, plus 1. */
  const seen = new Int32Array(1 << HASH_BITS);
  let literalStart = 0;
  const literalUpTo = (end: number): void => {
    if (end === literalStart) return;
    parts.push(Uint8Array.from(literalTag(end - literalStart)), input.subarray(literalStart, end));
  };
  for (let at = 0; at + MIN_COPY_LENGTH <= input.length;) {
    const word = input.readUInt32LE(at);
    const hash = Math.imul(word, 0x1e35a7bd) >>> (32 - HASH_BITS);
    const before = (seen[hash] ?? 0) - 1;
    seen[hash] = at + 1;
    if (before < 0 || at - before > FARTHEST || input.readUInt32LE(before) !== word) {
      at++;
      continue;
    }
    let length = MIN_COPY_LENGTH;
    while (length < MAX_COPY_LENGTH && at + length < input.length && input[before + length] === input[at + length]) {
      length++;
    }
    literalUpTo(at);
    parts.push(Uint8Array.from(copyTag(at - before, length)));
    at += length;
    literalStart = at;
  }
  literalUpTo(input.length);
  return Buffer.concat(parts);
}
