import { counted } from '../base/counted.js';
import { PlatformError } from '../base/errors.js';
import type { ClassSteps } from '../manifest/output-steps.js';
import type { TensorValue } from '../predictor/tensor-value.js';
import { readBoxes, type Detector } from './boxes.js';
import { softmax, topK } from './classes.js';
import { numbersOf, slicePart, type BatchPosition, rowOfPart } from './element-part.js';
import type { PredictedFeature, WithLabels } from './feature.js';
import { type Segmenter, readSegments } from './segments.js';

export type Classifier = WithLabels<ClassSteps>;

export type Postprocessor = Classifier | Detector | Segmenter;

export interface AskedElement extends BatchPosition {
  readonly limit: number;
}

/** The likeliest first. @throws PlatformError `manifest` where the numbers of labels and classes differ */
export function readClasses(
  output: TensorValue,
  { row, softmax: isSoftmax, labels, k }: Classifier,
  { limit, ...position }: AskedElement,
): readonly PredictedFeature[] {
  const part = slicePart(output, position);
  const scores = numbersOf(row === undefined ? part : rowOfPart(part, row));
  if (labels !== undefined && labels.length !== scores.length) {
    const message = `the manifest has ${counted(labels.length, 'label')}, the model ${counted(scores.length, 'class', 'classes')}`;
    throw new PlatformError('manifest', `${message}; correct the file of labels`);
  }
  const likely = topK(isSoftmax ? softmax(scores) : scores, limit > 0 ? limit : (k ?? scores.length));
  return likely.map(({ index, score }) => {
    return { kind: 'classification', index, label: labels?.[index] ?? '', probability: score };
  });
}

export function rawOf(name: string, output: TensorValue, position: BatchPosition): PredictedFeature {
  const { elementType, dims, bytes } = slicePart(output, position);
  return { kind: 'raw', output: name, elementType, dims, bytes };
}

/** Without postprocessors, outputs as they are. @throws PlatformError for an output that a postprocessor cannot take */
export function buildFeatures(
  outputs: ReadonlyMap<string, TensorValue>,
  postprocessors: ReadonlyMap<string, Postprocessor>,
  element: AskedElement,
): readonly PredictedFeature[] {
  return [...outputs].flatMap(([name, output]): readonly PredictedFeature[] => {
    const postprocessor = postprocessors.get(name);
    switch (postprocessor?.kind) {
      case undefined:
        return postprocessors.size === 0 ? [rawOf(name, output, element)] : [];
      case 'classes':
        return readClasses(output, postprocessor, element);
      case 'boxes':
        return readBoxes(outputs, name, postprocessor, element);
      case 'segments':
        return [readSegments(name, output, postprocessor, element)];
    }
  });
}
