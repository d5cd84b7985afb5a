import type { Random } from '../random.js';

/** Bytes with a few of them changed, added, left out, or cut off. */
export function mutateBytes(bytes: Uint8Array, random: Random): Uint8Array {
  const at = random.below(bytes.length + 1);
  const few = 1 + random.below(8);
  const made = Uint8Array.from({ length: few }, () => random.pick([0, 1, 0x0a, 0x7f, 0x80, 0xff, random.below(256)]));
  switch (random.below(4)) {
    case 0:
      return bytes.subarray(0, at);
    case 1:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + few)]);
    case 2:
      return Buffer.concat([bytes.subarray(0, at), made, bytes.subarray(at)]);
    default:
      return Buffer.concat([bytes.subarray(0, at), made, bytes.subarray(at + few)]);
  }
}
