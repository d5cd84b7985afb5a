import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';

/** Memory of a decoded value besides its own bytes. On Node 20: 5 bytes (a repeated text) to 180 (an empty message). */
export const VALUE_BYTES = 128;

const NOTHING = new Uint8Array();

const COUNTED = ['int64', 'uint64', 'sint64', 'bool', 'fixed32', 'sfixed32', 'float', 'double'] as const;

const READS: Readonly<Record<(typeof COUNTED)[number], (this: BinaryReader) => unknown>> = BinaryReader.prototype;

/**
 * Counts every tag, length and value, and throws past a limit: two bytes on the wire may become an object in memory, so
 * a limit on a message's bytes does not bound its memory. Generated decoders read everything through their reader.
 */
export class CountingReader extends BinaryReader {
  #values = 0;
  readonly #readVarint: () => number;

  constructor(
    bytes: Uint8Array,
    private readonly most: number,
    private readonly exceeded: () => Error,
  ) {
    super(bytes);
    this.#readVarint = this.uint32.bind(this);
    this.uint32 = () => {
      this.#count();
      return this.#readVarint();
    };
  }

  static {
    for (const name of COUNTED) {
      const read = READS[name];
      const counted = function (this: CountingReader): unknown {
        this.#count();
        return read.call(this);
      };
      Object.defineProperty(this.prototype, name, { value: counted });
    }
  }

  get values(): number {
    return this.#values;
  }

  /** @returns an empty array: views of the skipped bytes would take most of the time of hostile requests */
  override skip(wireType: WireType, fieldNo?: number, recursionLimit?: number): Uint8Array {
    switch (wireType) {
      case WireType.Varint:
        this.#readVarint();
        break;
      case WireType.Bit64:
        this.pos += 8;
        break;
      case WireType.Bit32:
        this.pos += 4;
        break;
      case WireType.LengthDelimited: {
        const length = this.uint32();
        this.pos += length;
        break;
      }
      default:
        super.skip(wireType, fieldNo, recursionLimit);
    }
    if (this.pos > this.len) throw new RangeError('premature EOF');
    return NOTHING;
  }

  #count(): void {
    if (++this.#values > this.most) throw this.exceeded();
  }
}
