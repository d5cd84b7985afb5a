import { PlatformError } from '../base/errors.js';
import type { SegmentSteps } from '../manifest/output-steps.js';
import type { TensorValue } from '../predictor/tensor-value.js';
import { numbersOf, partOfRank, type BatchPosition, wrongShape } from './element-part.js';
import { type ClassShare, MAX_CLASS, type PredictedFeature, type WithLabels } from './feature.js';

export type Segmenter = WithLabels<SegmentSteps>;

const MAX_PIXELS = 2 ** 24;

const NO_CLASS = -1;

function requireSize(height: number, width: number): void {
  if (height * width <= MAX_PIXELS) return;
  const message = `a map of ${height} x ${width} pixels is too large`;
  throw new PlatformError('unsupported', `${message}; an answer has room for ${MAX_PIXELS} pixels`);
}

/** The first of equal scores. NaN is the lowest score. */
function classWithMost(scores: Float64Array, first: number, stride: number, classes: number): number {
  let best = 0;
  let most = -Infinity;
  for (let index = 0; index < classes; index++) {
    const score = scores[first + index * stride] ?? NaN;
    if (score > most) [best, most] = [index, score];
  }
  return best;
}

function mapOfScores(part: TensorValue, layout: 'CHW' | 'HWC') {
  const [first = 0, second = 0, third = 0] = part.dims;
  const [classes, height, width] = layout === 'CHW' ? [first, second, third] : [third, first, second];
  requireSize(height, width);
  const scores = numbersOf(part);
  const pixels = height * width;
  const mask = new Int32Array(pixels);
  for (let pixel = 0; pixel < pixels; pixel++) {
    const [start, stride] = layout === 'CHW' ? [pixel, pixels] : [pixel * classes, 1];
    mask[pixel] = classWithMost(scores, start, stride, classes);
  }
  return { height, width, mask };
}

function mapOfClasses(part: TensorValue) {
  const [height = 0, width = 0] = part.dims;
  requireSize(height, width);
  const mask = Int32Array.from(numbersOf(part), (value) => {
    return value >= 0 && value <= MAX_CLASS ? Math.trunc(value) : NO_CLASS;
  });
  return { height, width, mask };
}

function withoutChannel(output: TensorValue): TensorValue {
  const { dims } = output;
  return dims.length === 4 && dims[1] === 1 ? { ...output, dims: [dims[0] ?? 1, ...dims.slice(2)] } : output;
}

/** The largest first. Pixels without a class have no share. */
export function classShares(mask: Int32Array, labels: readonly string[] | undefined): readonly ClassShare[] {
  const counts = new Map<number, number>();
  for (const index of mask) counts.set(index, (counts.get(index) ?? 0) + 1);
  const shares = [...counts].map(([index, count]) => {
    return { index, label: labels?.[index] ?? '', share: count / mask.length };
  });
  return shares.filter(({ index }) => index !== NO_CLASS).sort((a, b) => b.share - a.share || a.index - b.index);
}

/**
 * @throws PlatformError `manifest` where the output has another shape than the steps need, `unsupported` where it
 *   cannot be divided or is too large
 */
export function readSegments(
  name: string,
  output: TensorValue,
  segmenter: Segmenter,
  position: BatchPosition,
): PredictedFeature {
  const { layout, labels } = segmenter;
  const part =
    layout === 'map' ? partOfRank(withoutChannel(output), 2, position, name) : partOfRank(output, 3, position, name);
  if (part.dims.includes(0)) throw wrongShape(name, 'pixels', part.dims);
  const map = layout === 'map' ? mapOfClasses(part) : mapOfScores(part, layout);
  return { kind: 'semantic_segment', ...map, shares: classShares(map.mask, labels) };
}
