import { finite } from '../base/finite.js';
import { inPercent } from '../base/in-percent.js';
import { mean } from '../base/mean.js';
import { fromFloat16Bits } from '../onnx/model/float16.js';
import { elementsOf } from '../predictor/tensor-value.js';
import type { DetectedBox, PredictedFeature } from './feature.js';

type RawFeature = Extract<PredictedFeature, { kind: 'raw' }>;

export interface FeatureRow {
  readonly index: number | null;
  /** A label, or the name of an output. */
  readonly label: string;
  /** Probability, score, or share of the picture. */
  readonly score: number | null;
  readonly box: DetectedBox | undefined;
  readonly details: string;
}

const SHOWN_VALUES = 6;

/** null where not finite, and text for whole numbers beyond 2^53. */
export function listValues({ elementType, dims, bytes }: RawFeature): (number | string | null)[] {
  // The copy is aligned to its elements.
  const elements = elementsOf({ elementType, dims, bytes: new Uint8Array(bytes) });
  return Array.from(elements as ArrayLike<number | bigint>, (value) => {
    if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
    return finite(elementType === 'float16' ? fromFloat16Bits(value) : value);
  });
}

export function shortNumber(value: number | string | null): string {
  if (typeof value === 'string') return value;
  if (value === null) return 'not finite';
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(4)));
}

function corners({ xmin, xmax, ymin, ymax }: DetectedBox): string {
  const range = (from: number, to: number): string => `${from.toFixed(3)} to ${to.toFixed(3)}`;
  return `x ${range(xmin, xmax)}, y ${range(ymin, ymax)}`;
}

export function featureRows(feature: PredictedFeature): readonly FeatureRow[] {
  switch (feature.kind) {
    case 'classification': {
      const { index, label, probability } = feature;
      return [{ index, label, score: probability, box: undefined, details: '' }];
    }
    case 'bounding_box': {
      const { index, label, probability } = feature;
      return [{ index, label, score: probability, box: feature, details: corners(feature) }];
    }
    case 'instance_segment': {
      const { index, label, probability, height, width, mask } = feature;
      const covered = mean(mask);
      const details = `${corners(feature)}; ${inPercent(covered)} of ${height} x ${width} pixels`;
      return [{ index, label, score: probability, box: feature, details }];
    }
    case 'semantic_segment':
      return feature.shares.map(({ index, label, share }) => {
        const details = `${inPercent(share)} of ${feature.height} x ${feature.width} pixels`;
        return { index, label, score: share, box: undefined, details };
      });
    case 'raw': {
      const { output, elementType, dims } = feature;
      const values = listValues({ ...feature, bytes: feature.bytes.subarray(0, SHOWN_VALUES * 8) });
      const first = values.slice(0, SHOWN_VALUES).map(shortNumber).join(', ');
      const isAll = dims.reduce((product, size) => product * size, 1) <= SHOWN_VALUES;
      const details = `${elementType} [${dims.join(', ')}]: ${first}${isAll ? '' : ', …'}`;
      return [{ index: null, label: output, score: null, box: undefined, details }];
    }
  }
}

export function resultText({ index, label }: FeatureRow): string {
  return label === '' ? `class ${index}` : label;
}
