import { PlatformError } from '../base/errors.js';
import type { ElementType } from '../onnx/model/element-type.js';
import { elementsOf, type TensorValue } from '../predictor/tensor-value.js';
import { softmax, topK } from './classes.js';
import { fromFloat16Bits } from '../onnx/model/float16.js';

/** The classes of one element of a batch. */
export type PredictedFeature =
  | {
      readonly kind: 'classification';
      readonly index: number;
      /** Empty where the manifest names no labels. */
      readonly label: string;
      readonly probability: number;
    }
  | {
      readonly kind: 'raw';
      /** The output's name. */
      readonly output: string;
      readonly elementType: ElementType;
      /** Without the batch. */
      readonly dims: readonly number[];
      /** Little-endian. */
      readonly bytes: Uint8Array;
    };

/** How an output becomes classes; see ClassSteps. */
export interface Classifier {
  readonly softmax: boolean;
  readonly k?: number | undefined;
  readonly labels?: readonly string[] | undefined;
}

/** The part of an output that belongs to one element of the batch. */
function rowOf(output: TensorValue, row: number, rows: number): TensorValue {
  const { elementType, dims, bytes } = output;
  const [first, ...rest] = dims;
  if (first !== rows) {
    if (rows === 1) return output;
    const message = `an output has the dimensions [${dims.join(', ')}], so it cannot be divided among a batch of ${rows}`;
    throw new PlatformError('unsupported', `${message}; ask for batch_size 1`);
  }
  const rowBytes = bytes.length / rows;
  // A copy: it starts at the multiple of 8 that its elements may need.
  return { elementType, dims: rest, bytes: new Uint8Array(bytes.subarray(row * rowBytes, (row + 1) * rowBytes)) };
}

function numbersOf(row: TensorValue): ArrayLike<number> {
  const elements = elementsOf(row);
  if (row.elementType === 'float16') return Float64Array.from(elements as Uint16Array, fromFloat16Bits);
  return Float64Array.from(elements as ArrayLike<number | bigint>, Number);
}

/**
 * The classes that one element of the batch may belong to, the likeliest first.
 *
 * @param limit how many of them; 0 for as many as the manifest says
 * @throws PlatformError `manifest` where there are not as many labels as classes
 */
export function classesOf(
  output: TensorValue,
  classifier: Classifier,
  { row, rows, limit }: { readonly row: number; readonly rows: number; readonly limit: number },
): readonly PredictedFeature[] {
  const scores = numbersOf(rowOf(output, row, rows));
  const { labels, k = scores.length } = classifier;
  if (labels !== undefined && labels.length !== scores.length) {
    const message = `the manifest's labels are ${labels.length}, the model's classes ${scores.length}`;
    throw new PlatformError('manifest', `${message}; correct the file of labels`);
  }
  const likely = topK(classifier.softmax ? softmax(scores) : scores, limit > 0 ? limit : k);
  return likely.map(({ index, score }) => {
    return { kind: 'classification', index, label: labels?.[index] ?? '', probability: score };
  });
}

/** One element's part of an output as it is. */
export function rawOf(name: string, output: TensorValue, row: number, rows: number): PredictedFeature {
  const { elementType, dims, bytes } = rowOf(output, row, rows);
  return { kind: 'raw', output: name, elementType, dims, bytes };
}
