import { readSync } from 'node:fs';
import { PlatformError } from '../../base/errors.js';

export interface ByteSource {
  readonly name: string;
  /** Absolute path of the file; undefined for a buffer. */
  readonly path: string | undefined;
  readonly byteLength: number;
  /** The bytes from `offset` (before the end) on that are in memory, at least one; valid until the next call. */
  window(offset: number): Uint8Array;
  /** The bytes from `offset` on. They stay valid. The range must be inside the source. */
  read(offset: number, byteLength: number): Uint8Array;
}

export function bufferSource(name: string, bytes: Uint8Array): ByteSource {
  return {
    name,
    path: undefined,
    byteLength: bytes.length,
    window: (offset) => bytes.subarray(offset),
    read: (offset, byteLength) => bytes.subarray(offset, offset + byteLength),
  };
}

/** Window sizes: small after a jump over a weight, doubled while reading is sequential. */
const MIN_WINDOW_BYTES = 4096;
const MAX_WINDOW_BYTES = 1 << 18;

/** A source over an open file. Reads are positional, so that offsets beyond 2 GiB work. */
export class FileSource implements ByteSource {
  readonly #fd: number;
  readonly #block = new Uint8Array(MAX_WINDOW_BYTES);
  #start = 0;
  #length = 0;
  #ask = MIN_WINDOW_BYTES;

  constructor(
    readonly name: string,
    readonly path: string,
    fd: number,
    readonly byteLength: number,
  ) {
    this.#fd = fd;
  }

  window(offset: number): Uint8Array {
    if (offset < this.#start || offset >= this.#start + this.#length) this.#fill(offset);
    return this.#block.subarray(offset - this.#start, this.#length);
  }

  read(offset: number, byteLength: number): Uint8Array {
    const bytes = new Uint8Array(byteLength);
    for (let done = 0; done < byteLength;) {
      const piece = this.window(offset + done).subarray(0, byteLength - done);
      bytes.set(piece, done);
      done += piece.length;
    }
    return bytes;
  }

  #fill(offset: number): void {
    const straightOn = offset === this.#start + this.#length;
    this.#ask = straightOn ? Math.min(this.#ask * 2, MAX_WINDOW_BYTES) : MIN_WINDOW_BYTES;
    this.#start = offset;
    this.#length = readSync(this.#fd, this.#block, 0, this.#ask, offset);
    if (this.#length === 0) {
      throw new PlatformError('model', `${this.name} became shorter while it was read. Try again when it is complete.`);
    }
  }
}
