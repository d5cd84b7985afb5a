import { ELEMENT_TYPES, hasNumbers } from '../model/element-type.js';
import { fromFloat16Bits } from '../model/float16.js';
import { listedValues } from '../model/listed-values.js';
import type { InputValues, TensorType } from '../model/model.js';

/** Stands for infinity, which a message cannot hold: the largest float32. */
const LARGEST = 3.4028234663852886e38;

export interface KnownValue extends TensorType {
  readonly content?: Uint8Array;
}

/** A number within the range of numbers that are exact, for types that count. */
function counted(value: bigint): number {
  const most = BigInt(Number.MAX_SAFE_INTEGER);
  return Number(value > most ? most : value < -most ? -most : value);
}

function clampToFinite(value: number): number {
  if (Number.isNaN(value)) return 0;
  return Math.min(LARGEST, Math.max(-LARGEST, value));
}

/** undefined where the content is not known, or an input of its type cannot have given values. */
export function contentValues({ elementType, content }: KnownValue): InputValues | undefined {
  if (!hasNumbers(elementType) || elementType === 'bfloat16' || content === undefined) return undefined;
  if (content.length === 0) return { low: 0, high: 0 };
  // A copy, because the content may begin anywhere in its buffer.
  const elements = new ELEMENT_TYPES[elementType].array(new Uint8Array(content).buffer);
  if (elements instanceof BigInt64Array || elements instanceof BigUint64Array) {
    return listedValues(Array.from(elements, counted));
  }
  const read = elementType === 'float16' ? fromFloat16Bits : Number;
  return listedValues(Array.from(elements, (element) => clampToFinite(read(element))));
}
