import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { type Feature, FeatureType } from '../../generated/mlmodelscope/org/dlframework/features.js';
import { isElementType } from '../../onnx/model/element-type.js';
import type { DetectedBox, PredictedFeature } from '../../processing/feature.js';
import { classShares } from '../../processing/segments.js';

/** Key of a segmentation's metadata: a list of classes with `index`, `label` and `share`, as JSON. */
const CLASS_SHARES = 'class_shares';

function pickBox({ index, label, xmin, xmax, ymin, ymax }: Omit<DetectedBox, 'probability'>) {
  return { index, label, xmin, xmax, ymin, ymax };
}

const MASK_TYPE = 'int';

type WireFeature = Pick<Feature, 'type' | 'probability' | 'metadata' | 'feature'>;

function toWireContent(feature: PredictedFeature): WireFeature {
  switch (feature.kind) {
    case 'classification': {
      const { index, label, probability } = feature;
      const content = { $case: 'classification', value: { index, label } } as const;
      return { type: FeatureType.CLASSIFICATION, probability, metadata: {}, feature: content };
    }
    case 'bounding_box': {
      const { probability } = feature;
      const content = { $case: 'boundingBox', value: pickBox(feature) } as const;
      return { type: FeatureType.BOUNDINGBOX, probability, metadata: {}, feature: content };
    }
    case 'instance_segment': {
      const { probability, height, width, mask } = feature;
      const pixels = { maskType: MASK_TYPE, height, width, intMask: Array.from(mask), floatMask: [] };
      const content = { $case: 'instanceSegment', value: { ...pickBox(feature), ...pixels } } as const;
      return { type: FeatureType.INSTANCESEGMENT, probability, metadata: {}, feature: content };
    }
    case 'semantic_segment': {
      const { height, width, mask, shares } = feature;
      const content = { $case: 'semanticSegment', value: { height, width, intMask: Array.from(mask) } } as const;
      const metadata = { [CLASS_SHARES]: JSON.stringify(shares) };
      return { type: FeatureType.SEMANTICSEGMENT, probability: 0, metadata, feature: content };
    }
    case 'raw': {
      const { output, elementType, dims, bytes } = feature;
      const metadata = { name: output, element_type: elementType, dimensions: `[${dims.join(',')}]` };
      const content = { $case: 'raw', value: { data: bytes, format: elementType } } as const;
      return { type: FeatureType.RAW, probability: 0, metadata, feature: content };
    }
  }
}

export function toWireFeature(feature: PredictedFeature): Feature {
  return { id: randomUUID(), ...toWireContent(feature) };
}

const sharesSchema = z.array(z.strictObject({ index: z.int(), label: z.string(), share: z.number() }));

const dimensionsSchema = z.array(z.int().min(0));

function sharesIn(metadata: Feature['metadata'], mask: Int32Array) {
  const text = metadata[CLASS_SHARES];
  return text === undefined ? classShares(mask, undefined) : sharesSchema.parse(JSON.parse(text));
}

/** @throws Error for a feature of an unknown kind, or one that contradicts its metadata */
export function fromWireFeature({ probability, metadata, feature }: Feature): PredictedFeature {
  switch (feature?.$case) {
    case 'classification':
      return { kind: 'classification', ...feature.value, probability };
    case 'boundingBox':
      return { kind: 'bounding_box', ...feature.value, probability };
    case 'instanceSegment': {
      const { height, width, intMask } = feature.value;
      const mask = Uint8Array.from(intMask);
      return { kind: 'instance_segment', ...pickBox(feature.value), probability, height, width, mask };
    }
    case 'semanticSegment': {
      const { height, width, intMask } = feature.value;
      const mask = Int32Array.from(intMask);
      return { kind: 'semantic_segment', height, width, mask, shares: sharesIn(metadata, mask) };
    }
    case 'raw': {
      const { data, format } = feature.value;
      if (!isElementType(format)) throw new Error(`an output of ${format}`);
      const dims = dimensionsSchema.parse(JSON.parse(metadata['dimensions'] ?? '[]'));
      return { kind: 'raw', output: metadata['name'] ?? '', elementType: format, dims, bytes: data };
    }
    default:
      throw new Error(`a feature of the kind ${feature?.$case ?? 'unknown'}`);
  }
}
