import { finite } from '../../base/finite.js';
import type { Provenance } from '../../agent/provenance.js';
import type { Prediction } from '../../agent/client/prediction-client.js';
import { listValues } from '../../processing/feature-rows.js';
import type { DetectedBox, PredictedFeature } from '../../processing/feature.js';
import { toDocument } from '../document-text.js';
import type { PredictionDocument } from '../json-documents.js';

type FeatureDocument = Extract<PredictionDocument, { features: unknown }>['features'][number];

/** Runs of equal pixels, as pairs of value and length. */
function encodeRuns(mask: Iterable<number>): [number, number][] {
  const runs: [number, number][] = [];
  for (const pixel of mask) {
    const last = runs.at(-1);
    if (last?.[0] === pixel) last[1]++;
    else runs.push([pixel, 1]);
  }
  return runs;
}

function boxOf({ index, label, probability, xmin, xmax, ymin, ymax }: DetectedBox) {
  return { index, label, probability: finite(probability), xmin, xmax, ymin, ymax };
}

function featureDocument(feature: PredictedFeature): FeatureDocument {
  switch (feature.kind) {
    case 'classification': {
      const { kind, index, label, probability } = feature;
      return { kind, index, label, probability: finite(probability) };
    }
    case 'bounding_box':
      return { kind: feature.kind, ...boxOf(feature) };
    case 'instance_segment': {
      const { kind, height, width, mask } = feature;
      return { kind, ...boxOf(feature), height, width, mask: encodeRuns(mask) };
    }
    case 'semantic_segment': {
      const { kind, height, width, mask, shares } = feature;
      return { kind, classes: [...shares], height, width, mask: encodeRuns(mask) };
    }
    case 'raw': {
      const { kind, output, elementType, dims } = feature;
      return { kind, name: output, elementType, dimensions: [...dims], values: listValues(feature) };
    }
  }
}

export function predictionDocument({ inputId, outcome }: Prediction): object {
  if (outcome.kind === 'failure') {
    const { code, message } = outcome;
    return toDocument('prediction', { inputId, error: { code, message } });
  }
  return toDocument('prediction', { inputId, features: outcome.features.map(featureDocument) });
}

/** Predictions as JSON lines. @param provenance of all of them, on the first line */
export function predictionLines(predictions: readonly Prediction[], provenance: Provenance): string {
  const lines = predictions
    .map(predictionDocument)
    .map((line, index) => (index === 0 ? { provenance, ...line } : line));
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}
