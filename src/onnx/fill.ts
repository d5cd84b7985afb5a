import { ELEMENT_TYPES, type ElementType } from './element-type.js';
import type { Fill } from './model.js';

/** Elements per block, so that a tensor of any size streams through a small buffer. */
const BLOCK_ELEMENTS = 1 << 16;

/**
 * The smallest magnitude of a made float, relative to the larger bound. A product of a few dozen such values is still
 * far from the denormal range (below 2^-126 for float32), where processors slow down by an order of magnitude.
 */
const NEAREST_TO_ZERO = 2 ** -8;

/**
 * xoshiro128++ (Blackman and Vigna, 2018): fast, passes BigCrush, needs only 32-bit integer operations.
 * Its state is spread from the seed with splitmix32.
 */
function xoshiro128pp(seed: number): () => number {
  const state = new Int32Array(4);
  let spread = seed | 0;
  for (let i = 0; i < 4; i++) {
    spread = (spread + 0x9e3779b9) | 0;
    let z = spread;
    z = Math.imul(z ^ (z >>> 16), 0x85ebca6b);
    z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35);
    state[i] = z ^ (z >>> 16);
  }
  let [a, b, c, d] = state as unknown as [number, number, number, number];
  return () => {
    const sum = (a + d) | 0;
    const result = (((sum << 7) | (sum >>> 25)) + a) >>> 0;
    const t = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= t;
    d = (d << 11) | (d >>> 21);
    return result;
  };
}

/** float16 bits of a number within the normal range of float16. */
function float16Bits(value: number): number {
  const [bits] = new Uint32Array(new Float32Array([value]).buffer) as unknown as [number];
  const sign = (bits >>> 16) & 0x8000;
  const exponent = ((bits >>> 23) & 0xff) - 127 + 15;
  if (exponent <= 0) return sign;
  if (exponent >= 31) return sign | 0x7bff;
  return sign | (exponent << 10) | ((bits >>> 13) & 0x3ff);
}

type NumericArray = Float32Array | Float64Array | Uint8Array | Int8Array | Uint16Array | Int16Array | Int32Array;
type BlockArray = NumericArray | Uint32Array | BigInt64Array | BigUint64Array;

/** One integer per element (bigint or number arrays), drawn from [low, high] with both ends included. */
function integerWriter(block: BlockArray, { low, high, seed }: Fill): (count: number) => void {
  const next = xoshiro128pp(seed);
  const first = Math.ceil(low);
  const range = Math.max(1, Math.floor(high) - first + 1);
  if (block instanceof BigInt64Array || block instanceof BigUint64Array) {
    return (count) => {
      for (let i = 0; i < count; i++) block[i] = BigInt(first + (next() % range));
    };
  }
  return (count) => {
    for (let i = 0; i < count; i++) block[i] = first + (next() % range);
  };
}

function floatWriter(block: NumericArray, { low, high, seed }: Fill, encode?: (value: number) => number) {
  const next = xoshiro128pp(seed);
  const step = (high - low) / 2 ** 32;
  const nearest = Math.max(Math.abs(low), Math.abs(high)) * NEAREST_TO_ZERO;
  return (count: number): void => {
    for (let i = 0; i < count; i++) {
      let value = low + next() * step;
      if (value < nearest && value > -nearest) value = value < 0 || high <= 0 ? -nearest : nearest;
      block[i] = encode === undefined ? value : encode(value);
    }
  };
}

function blockFor(elementType: ElementType, fill: Fill): { block: BlockArray; write: (count: number) => void } {
  switch (elementType) {
    case 'float32': {
      const block = new Float32Array(BLOCK_ELEMENTS);
      return { block, write: floatWriter(block, fill) };
    }
    case 'float64': {
      const block = new Float64Array(BLOCK_ELEMENTS);
      return { block, write: floatWriter(block, fill) };
    }
    case 'float16': {
      const block = new Uint16Array(BLOCK_ELEMENTS);
      return { block, write: floatWriter(block, fill, float16Bits) };
    }
    case 'bfloat16': {
      const block = new Uint16Array(BLOCK_ELEMENTS);
      const float = new Float32Array(1);
      const bits = new Uint32Array(float.buffer);
      const encode = (value: number): number => {
        float[0] = value;
        return (bits[0] ?? 0) >>> 16;
      };
      return { block, write: floatWriter(block, fill, encode) };
    }
    case 'int64': {
      const block = new BigInt64Array(BLOCK_ELEMENTS);
      return { block, write: integerWriter(block, fill) };
    }
    case 'uint64': {
      const block = new BigUint64Array(BLOCK_ELEMENTS);
      return { block, write: integerWriter(block, fill) };
    }
    case 'int32': {
      const block = new Int32Array(BLOCK_ELEMENTS);
      return { block, write: integerWriter(block, fill) };
    }
    case 'uint32': {
      const block = new Uint32Array(BLOCK_ELEMENTS);
      return { block, write: integerWriter(block, fill) };
    }
    case 'int16': {
      const block = new Int16Array(BLOCK_ELEMENTS);
      return { block, write: integerWriter(block, fill) };
    }
    case 'uint16': {
      const block = new Uint16Array(BLOCK_ELEMENTS);
      return { block, write: integerWriter(block, fill) };
    }
    case 'int8': {
      const block = new Int8Array(BLOCK_ELEMENTS);
      return { block, write: integerWriter(block, fill) };
    }
    case 'uint8':
    case 'bool': {
      const block = new Uint8Array(BLOCK_ELEMENTS);
      return { block, write: integerWriter(block, fill) };
    }
    default: {
      // Packed and eight-bit float types: any bit pattern from 0x10 to 0x6f is a normal, finite value in all of them.
      const block = new Uint8Array(BLOCK_ELEMENTS);
      return { block, write: integerWriter(block, { low: 0x10, high: 0x6f, seed: fill.seed }) };
    }
  }
}

/**
 * The raw_data of a tensor with made-up values, in blocks. The same type, count and fill always give the same bytes.
 * A tensor longer than a block repeats the first one: no latency depends on it, and gigabytes of weights are made at the
 * speed of copying.
 */
export function* fillBlocks(elementType: ElementType, count: number, fill: Fill): Generator<Uint8Array> {
  const { block, write } = blockFor(elementType, fill);
  const bits = ELEMENT_TYPES[elementType].bits;
  // A block element holds more than one value only for the packed types.
  const perBlockElement = bits < 8 ? 8 / bits : 1;
  const elements = Math.ceil(count / perBlockElement);
  write(Math.min(elements, BLOCK_ELEMENTS));
  for (let left = elements; left > 0; left -= BLOCK_ELEMENTS) {
    yield new Uint8Array(block.buffer as ArrayBuffer, 0, Math.min(left, BLOCK_ELEMENTS) * block.BYTES_PER_ELEMENT);
  }
}
