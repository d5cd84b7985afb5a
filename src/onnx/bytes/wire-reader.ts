import { WireType } from '@bufbuild/protobuf/wire';
import { PlatformError } from '../../base/errors.js';
import type { ByteSource } from './byte-source.js';

const MAX_VARINT_BYTES = 10;
const NOTHING = new Uint8Array();

/** Moves forward through protobuf's wire format. Every read is checked against the end of its message. */
export class WireReader {
  position = 0;
  #window: Uint8Array = NOTHING;
  #windowStart = 0;

  constructor(readonly source: ByteSource) {}

  /** A field number and wire type, as `number << 3 | type`. */
  tag(end: number): number {
    const at = this.position;
    const tag = this.#varint(end);
    if (tag < 8 || tag > 0xffffffff) this.fail(at, 'there is no field tag');
    return tag;
  }

  length(end: number): number {
    const at = this.position;
    const length = this.#varint(end);
    if (length <= end - this.position) return length;
    const whole = this.source.byteLength;
    return this.fail(
      at,
      end === whole
        ? `the next ${length} bytes are announced, but the file ends after ${whole - this.position}`
        : `the next ${length} bytes are announced, but the message around them ends after ${end - this.position}`,
    );
  }

  /** @returns how many bytes the value takes */
  skip(wireType: WireType, end: number): number {
    const at = this.position;
    switch (wireType) {
      case WireType.Varint:
        this.#varint(end);
        break;
      case WireType.Bit64:
        this.position += 8;
        break;
      case WireType.Bit32:
        this.position += 4;
        break;
      case WireType.LengthDelimited: {
        const length = this.length(end);
        this.position += length;
        break;
      }
      default:
        this.fail(at, `there is a field of wire type ${wireType}`);
    }
    if (this.position > end) this.fail(at, 'a number is cut off');
    return this.position - at;
  }

  /** Passes the next bytes to `take`, in one or more pieces. A piece is valid only during the call. */
  copy(byteLength: number, take: (piece: Uint8Array) => void): void {
    for (let left = byteLength; left > 0;) {
      const piece = this.#here().subarray(0, left);
      take(piece);
      this.position += piece.length;
      left -= piece.length;
    }
  }

  fail(at: number, problem: string): never {
    throw new PlatformError(
      'model',
      `${this.source.name} is not a readable ONNX file: at byte ${at}, ${problem}. ` +
        'It may be truncated or damaged: copy, download or export it again.',
    );
  }

  #here(): Uint8Array {
    const index = this.position - this.#windowStart;
    if (index >= 0 && index < this.#window.length) return this.#window.subarray(index);
    this.#windowStart = this.position;
    return (this.#window = this.source.window(this.position));
  }

  #byte(end: number): number {
    if (this.position >= end) this.fail(this.position, 'a number is cut off');
    const index = this.position - this.#windowStart;
    const byte = index >= 0 ? this.#window[index] : undefined;
    if (byte === undefined) {
      this.#here();
      return this.#byte(end);
    }
    this.position += 1;
    return byte;
  }

  /** Exact up to 2^53; larger values are rounded. */
  #varint(end: number): number {
    const at = this.position;
    let value = 0;
    let scale = 1;
    for (let i = 0; i < MAX_VARINT_BYTES; i++) {
      const byte = this.#byte(end);
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 128;
    }
    return this.fail(at, 'a number has more than ten bytes');
  }
}
