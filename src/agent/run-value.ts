import type { TensorType } from '../onnx/model/model.js';

export const FIRST_ELEMENTS = 8;

/** Elements of a value that an agent returns, at most. */
export const MAX_ELEMENTS = 65_536;

/** What one run computed for a value. Elements beyond 2^53 are rounded; the checksum is of all their bits. */
export interface RunValue extends TensorType {
  /** Of its elements, little-endian. */
  readonly sha256: string;
  /** Of its finite elements: the square root of the sum of their squares. */
  readonly norm: number;
  readonly notFinite: number;
  readonly first: readonly number[];
  /** The first element, and every `stride`th after it. */
  readonly elements: readonly number[];
  readonly stride: number;
}
