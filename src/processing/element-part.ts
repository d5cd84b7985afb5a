import { counted } from '../base/counted.js';
import { PlatformError } from '../base/errors.js';
import { fromFloat16Bits } from '../onnx/model/float16.js';
import { elementsOf, type TensorValue } from '../predictor/tensor-value.js';

export interface BatchPosition {
  readonly row: number;
  readonly rows: number;
}

/** The output's first dimension is the batch. */
function slice({ elementType, dims, bytes }: TensorValue, index: number, parts: number): TensorValue {
  const partBytes = bytes.length / parts;
  // A copy is aligned to 8 bytes, which its elements may need.
  const copy = new Uint8Array(bytes.subarray(index * partBytes, (index + 1) * partBytes));
  return { elementType, dims: dims.slice(1), bytes: copy };
}

function cannotDivide({ dims }: TensorValue, rows: number): PlatformError {
  const message = `an output has the dimensions [${dims.join(', ')}], so it cannot be divided among a batch of ${rows}`;
  return new PlatformError('unsupported', `${message}; ask for batch_size 1`);
}

/** A batch of one may have outputs without a batch. @throws PlatformError `unsupported` */
export function slicePart(output: TensorValue, { row, rows }: BatchPosition): TensorValue {
  if (output.dims[0] === rows) return slice(output, row, rows);
  if (rows === 1) return output;
  throw cannotDivide(output, rows);
}

/** @throws PlatformError `unsupported` where the output cannot be divided; `manifest` where it has another rank */
export function partOfRank(output: TensorValue, rank: number, position: BatchPosition, what: string): TensorValue {
  const { dims } = output;
  if (dims.length === rank && position.rows === 1) return output;
  if (dims.length === rank + 1 && dims[0] === position.rows) return slice(output, position.row, position.rows);
  if (dims.length === rank) throw cannotDivide(output, position.rows);
  throw wrongShape(what, `${counted(rank, 'dimension')} beside the batch`, dims);
}

export function wrongShape(what: string, expected: string, dims: readonly number[]): PlatformError {
  const message = `the output of ${what} has the dimensions [${dims.join(', ')}]; expected ${expected}`;
  return new PlatformError('manifest', `${message}; correct the steps in the model's manifest`);
}

/** @param row from the end where it is negative @throws PlatformError `usage` where there is no such row */
export function rowOfPart(part: TensorValue, row: number): TensorValue {
  const [count = 0] = part.dims;
  const index = row < 0 ? count + row : row;
  if (part.dims.length >= 2 && index >= 0 && index < count) return slice(part, index, count);
  const message = `the manifest takes row ${row} of an output with the dimensions [${part.dims.join(', ')}]`;
  throw new PlatformError('usage', `${message}, which has no such row; give an input that makes more rows`);
}

export function numbersOf(part: TensorValue): Float64Array {
  const elements = elementsOf(part);
  if (part.elementType === 'float16') return Float64Array.from(elements as Uint16Array, fromFloat16Bits);
  return Float64Array.from(elements as ArrayLike<number | bigint>, Number);
}
