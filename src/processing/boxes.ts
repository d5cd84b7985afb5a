import { PlatformError } from '../base/errors.js';
import type { BoxFormat, BoxSteps } from '../manifest/output-steps.js';
import type { TensorValue } from '../predictor/tensor-value.js';
import { numbersOf, partOfRank, type BatchPosition, wrongShape } from './element-part.js';
import { type DetectedBox, MAX_CLASS, type PredictedFeature, type WithLabels } from './feature.js';
import { suppressOverlaps } from './non-max-suppression.js';

export interface Detector extends WithLabels<Omit<BoxSteps, 'isInPixels'>> {
  /** Share of the input that one unit of a box stands for: 1 / width and 1 / height for pixels. */
  readonly unit: { readonly x: number; readonly y: number };
}

type Outputs = ReadonlyMap<string, TensorValue>;

/** Only the best candidates are compared: each pair takes time, and detectors have some hundreds above a threshold. */
const MAX_CANDIDATES = 4096;

interface Candidate extends DetectedBox {
  readonly box: number;
}

type Corners = Pick<DetectedBox, 'xmin' | 'xmax' | 'ymin' | 'ymax'>;

function computeCorners(format: BoxFormat, [a, b, c, d]: readonly [number, number, number, number]): Corners {
  switch (format) {
    case 'yxyx':
      return { xmin: b, xmax: d, ymin: a, ymax: c };
    case 'xyxy':
      return { xmin: a, xmax: c, ymin: b, ymax: d };
    case 'cxcywh':
      return { xmin: a - c / 2, xmax: a + c / 2, ymin: b - d / 2, ymax: b + d / 2 };
  }
}

/** A model may give NaN, or corners in the wrong order. */
function isBox({ xmin, xmax, ymin, ymax }: Corners): boolean {
  return [xmin, xmax, ymin, ymax].every(Number.isFinite) && xmin <= xmax && ymin <= ymax;
}

interface Scores {
  readonly count: number;
  readonly classesOf: (box: number) => Iterable<readonly [index: number, score: number]>;
}

/** @throws PlatformError `manifest` where the model has no such output, or one of another rank */
type PartOf = (name: string, rank: number) => TensorValue;

function outputNamed(name: string, outputs: Outputs): TensorValue {
  const output = outputs.get(name);
  if (output !== undefined) return output;
  const there = [...outputs.keys()].join(', ');
  throw new PlatformError('manifest', `the manifest's boxes need the output ${name}; the model has ${there}`);
}

function readScores(partOf: PartOf, { scores, classes, hasBackground }: Detector, boxes: number): Scores {
  if (classes !== undefined) {
    const [given, classOf] = [scores, classes].map((name) => {
      const part = partOf(name, 1);
      if (part.dims[0] !== boxes) throw wrongShape(name, `a number for each of ${boxes} boxes`, part.dims);
      return numbersOf(part);
    });
    return {
      count: boxes,
      *classesOf(box) {
        yield [Math.trunc(classOf?.[box] ?? NaN), given?.[box] ?? NaN];
      },
    };
  }
  const part = partOf(scores, 2);
  const [count = 0, each = 0] = part.dims;
  if (count !== boxes) throw wrongShape(scores, `scores of the classes of each of ${boxes} boxes`, part.dims);
  const given = numbersOf(part);
  return {
    count,
    *classesOf(box) {
      for (let index = hasBackground ? 1 : 0; index < each; index++) yield [index, given[box * each + index] ?? NaN];
    },
  };
}

function findCandidates(partOf: PartOf, name: string, detector: Detector): readonly Candidate[] {
  const { format, unit, threshold, count, labels } = detector;
  const part = partOf(name, 2);
  if (part.dims[1] !== 4) throw wrongShape(name, 'four numbers for each box', part.dims);
  const numbers = numbersOf(part);
  const scores = readScores(partOf, detector, part.dims[0] ?? 0);
  const said = count === undefined ? scores.count : (numbersOf(partOf(count, 0))[0] ?? NaN);
  const candidates: Candidate[] = [];
  for (let box = 0; box < scores.count && box < said; box++) {
    const [a = NaN, b = NaN, c = NaN, d = NaN] = numbers.subarray(box * 4, box * 4 + 4);
    const { xmin, xmax, ymin, ymax } = computeCorners(format, [a, b, c, d]);
    const corners = { xmin: xmin * unit.x, xmax: xmax * unit.x, ymin: ymin * unit.y, ymax: ymax * unit.y };
    if (!isBox(corners)) continue;
    for (const [index, probability] of scores.classesOf(box)) {
      if (!(probability > threshold && index >= 0 && index <= MAX_CLASS)) continue;
      candidates.push({ box, index, label: labels?.[index] ?? '', probability, ...corners });
    }
  }
  return candidates.sort((a, b) => b.probability - a.probability).slice(0, MAX_CANDIDATES);
}

/** Masks are [box, row, column], or [box, class, row, column] with one for all classes or one for each. */
function withMask(
  { box, ...found }: Candidate,
  { masks, threshold }: NonNullable<Detector['masks']>,
  part: TensorValue,
): PredictedFeature {
  const [boxes = 0, ...rest] = part.dims;
  const [height = 0, width = 0] = rest.slice(-2);
  const channels = rest.length === 3 ? (rest[0] ?? 0) : 1;
  const channel = channels === 1 ? 0 : found.index;
  if (box >= boxes || channel >= channels) {
    throw wrongShape(masks, `a mask for box ${box} and class ${found.index}`, part.dims);
  }
  const size = height * width;
  const itemBytes = part.bytes.length / (boxes * channels);
  const start = (box * channels + channel) * itemBytes;
  const bytes = new Uint8Array(part.bytes.subarray(start, start + itemBytes));
  const values = numbersOf({ ...part, dims: [size], bytes });
  const mask = Uint8Array.from(values, (value) => (value >= threshold ? 1 : 0));
  return { kind: 'instance_segment', ...found, height, width, mask };
}

/**
 * The highest score comes first.
 *
 * @param name of the output that has the boxes @param limit the most objects; 0 for as many as the manifest says
 * @throws PlatformError `manifest` where an output is missing or has another shape than the steps need; `unsupported`
 *   where it cannot be divided
 */
export function readBoxes(
  outputs: Outputs,
  name: string,
  detector: Detector,
  { limit, ...position }: BatchPosition & { readonly limit: number },
): readonly PredictedFeature[] {
  const partOf: PartOf = (of, rank) => partOfRank(outputNamed(of, outputs), rank, position, of);
  const candidates = findCandidates(partOf, name, detector);
  const { suppression, masks, k = candidates.length } = detector;
  const kept = suppression === undefined ? candidates : suppressOverlaps(candidates, suppression);
  const asked = kept.slice(0, limit > 0 ? limit : k);
  if (masks === undefined) return asked.map(({ box: _, ...found }) => ({ kind: 'bounding_box', ...found }));
  const batchDims = outputs.get(name)?.dims.length === 3 ? 1 : 0;
  const part = partOf(masks.masks, outputNamed(masks.masks, outputs).dims.length - batchDims === 4 ? 4 : 3);
  return asked.map((candidate) => withMask(candidate, masks, part));
}
