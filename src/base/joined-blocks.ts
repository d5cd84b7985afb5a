/** The content of blocks, each of which may be valid only until the next one is asked for. @param byteLength of all */
export function joinedBlocks(blocks: Iterable<Uint8Array>, byteLength: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(byteLength);
  let offset = 0;
  for (const block of blocks) {
    bytes.set(block, offset);
    offset += block.length;
  }
  return bytes;
}
