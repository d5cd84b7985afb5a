import type { Prediction } from '../../agent/client/prediction-client.js';
import type { TableResult } from '../../base/exporters/exporter.js';
import { fittingTable } from '../../base/fitting-table.js';
import { mean } from '../../base/mean.js';
import { type Column, filledColumns, textTable, left, right } from '../../base/text-table.js';
import { type FeatureRow, featureRows, resultText, shortNumber } from '../../processing/feature-rows.js';
import type { PredictedFeature } from '../../processing/feature.js';
import { predictionDocument } from './documents.js';

interface Row extends FeatureRow {
  readonly input: string;
  readonly rank: number | null;
  readonly kind: PredictedFeature['kind'] | 'error';
}

const KEYS = ['input_id', 'rank', 'kind', 'index', 'label', 'score', 'xmin', 'xmax', 'ymin', 'ymax'] as const;

function listRows({ inputId, outcome }: Prediction): readonly Row[] {
  if (outcome.kind === 'failure') {
    const nothing = { rank: null, index: null, score: null, box: undefined, details: '' };
    return [{ input: inputId, kind: 'error', label: outcome.message, ...nothing }];
  }
  const contents = outcome.features.flatMap((feature) => {
    return featureRows(feature).map((content) => ({ kind: feature.kind, ...content }));
  });
  return contents.map((content, i) => ({ input: inputId, rank: i + 1, ...content }));
}

const COLUMNS: readonly Column<Row>[] = [
  left('input', ({ input }) => input),
  right('rank', ({ rank }) => String(rank ?? '')),
  left('result', (row) => (row.kind === 'error' ? `error: ${row.label}` : resultText(row))),
  right('score', ({ score }) => (score === null ? '' : shortNumber(score))),
  left('details', ({ details }) => details),
];

function listNotes(predictions: readonly Prediction[], traceId: string): readonly string[] {
  const batches = predictions.flatMap(({ batch }) => batch ?? []);
  const failed = predictions.filter(({ outcome }) => outcome.kind === 'failure').length;
  const none = predictions.filter(({ outcome }) => outcome.kind === 'features' && outcome.features.length === 0).length;
  const times = (['preprocess', 'inference', 'postprocess'] as const).map((step) => {
    return `${mean(batches.map((batch) => batch[`${step}Ms`])).toFixed(3)} ms ${step}`;
  });
  const counted = `inputs: ${predictions.length}, without a prediction: ${failed}`;
  return [
    none === 0 ? counted : `${counted}, with nothing found: ${none}`,
    ...(batches.length === 0 ? [] : [`batches: ${batches.length}, mean times: ${times.join(', ')}`]),
    ...(traceId === '' ? [] : [`trace: ${traceId}`]),
  ];
}

export function predictionResult(predictions: readonly Prediction[], traceId: string): TableResult {
  const rows = predictions.flatMap(listRows);
  return {
    document: predictions.map(predictionDocument),
    records: {
      keys: KEYS,
      rows: rows.map(({ input, rank, kind, index, label, score, box }) => {
        return [input, rank, kind, index, label, score, box?.xmin, box?.xmax, box?.ymin, box?.ymax];
      }),
    },
    table: textTable(filledColumns(COLUMNS, rows), rows),
    notes: listNotes(predictions, traceId),
  };
}

/** For people. @param width columns of the terminal; undefined where there is none */
export function predictionText(predictions: readonly Prediction[], traceId: string, width: number | undefined): string {
  const rows = predictions.flatMap(listRows);
  const notes = listNotes(predictions, traceId);
  if (rows.length === 0) return `${notes.join('\n')}\n`;
  const { text } = fittingTable(filledColumns(COLUMNS, rows), rows, { width, dispensable: ['details', 'rank'] });
  return `${[text, ...notes].join('\n')}\n`;
}
