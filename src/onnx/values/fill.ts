import { PlatformError } from '../../base/errors.js';
import { xoshiro128pp } from '../../base/random.js';
import { ELEMENT_TYPES, type ElementType, hasNumbers } from '../model/element-type.js';
import { float16Bits } from '../model/float16.js';
import type { Fill } from '../model/model.js';

/** Elements per block, so that a tensor of any size streams through a small buffer. */
const BLOCK_ELEMENTS = 1 << 16;

/** Relative to the larger bound: products of a few dozen such values are far from the slow denormal range. */
const NEAREST_TO_ZERO = 2 ** -8;

/** The largest finite float16; IEEE 754-2019, binary16. */
const MAX_FLOAT16 = 65504;

function finiteFloat16Bits(value: number): number {
  return float16Bits(Math.min(MAX_FLOAT16, Math.max(-MAX_FLOAT16, value)));
}

const float = new Float32Array(1);
const floatBits = new Uint32Array(float.buffer);

function bfloat16Bits(value: number): number {
  float[0] = value;
  return (floatBits[0] ?? 0) >>> 16;
}

function integers({ low, high, seed }: Fill): () => number {
  const next = xoshiro128pp(seed);
  const first = Math.ceil(low);
  const range = Math.max(1, Math.floor(high) - first + 1);
  return () => first + (next() % range);
}

function floats({ low, high, seed }: Fill): () => number {
  const next = xoshiro128pp(seed);
  const step = (high - low) / 2 ** 32;
  const nearest = Math.max(Math.abs(low), Math.abs(high)) * NEAREST_TO_ZERO;
  return () => {
    const value = low + next() * step;
    // One comparison that is nearly always true: a processor cannot predict the sign.
    if (Math.abs(value) >= nearest) return value;
    return value < 0 || high <= 0 ? -nearest : nearest;
  };
}

function repeated(list: readonly number[]): () => number {
  let at = 0;
  return () => list[at++ % list.length] ?? 0;
}

function elementsFor(elementType: ElementType, fill: Fill): () => number {
  const { kind } = ELEMENT_TYPES[elementType];
  if (kind === 'string') throw new PlatformError('unsupported', 'no strings can be made up; give the tensor values');
  // Any bit pattern from 0x10 to 0x6f is a normal, finite value in all of them.
  if (!hasNumbers(elementType)) return integers({ low: 0x10, high: 0x6f, seed: fill.seed });
  const next = fill.list ? repeated(fill.list) : kind === 'float' ? floats(fill) : integers(fill);
  if (elementType === 'float16') return () => finiteFloat16Bits(next());
  return elementType === 'bfloat16' ? () => bfloat16Bits(next()) : next;
}

/**
 * The same type, count and fill always give the same bytes. A longer tensor repeats its first block: no latency depends
 * on this, and gigabytes of weights are made at the speed of copying.
 */
export function* fillBlocks(elementType: ElementType, count: number, fill: Fill): Generator<Uint8Array> {
  const { array, bits } = ELEMENT_TYPES[elementType];
  const next = elementsFor(elementType, fill);
  // An element of the array holds more than one value only for the packed types.
  const elements = Math.ceil(count / Math.max(1, 8 / bits));
  // A block holds whole lists, because it may be repeated.
  const length = fill.list?.length ?? 1;
  const blockElements = length * Math.max(1, Math.floor(BLOCK_ELEMENTS / length));
  const block = new array(Math.min(elements, blockElements));
  if (block instanceof BigInt64Array || block instanceof BigUint64Array) {
    for (let i = 0; i < block.length; i++) block[i] = BigInt(Math.round(next()));
  } else {
    for (let i = 0; i < block.length; i++) block[i] = next();
  }
  for (let left = elements; left > 0; left -= blockElements) {
    yield new Uint8Array(block.buffer, 0, Math.min(left, blockElements) * block.BYTES_PER_ELEMENT);
  }
}
