import type { Prediction } from '../../agent/client/prediction-client.js';
import type { TableResult } from '../../base/exporters/exporter.js';
import { fittingTable } from '../../base/fitting-table.js';
import { type Column, textTable } from '../../base/text-table.js';
import type { DetectedBox, PredictedFeature } from '../../processing/feature.js';
import { predictionDocument, valuesOf } from './documents.js';

interface Row {
  readonly input: string;
  readonly rank: number | null;
  readonly kind: PredictedFeature['kind'] | 'error';
  readonly index: number | null;
  /** A label, the name of an output, or a message. */
  readonly label: string;
  /** Probability, score, or share of the picture. */
  readonly score: number | null;
  readonly box: DetectedBox | undefined;
  readonly details: string;
}

/** How many numbers of a raw output the table shows. */
const SHOWN_VALUES = 6;

const KEYS = ['input_id', 'rank', 'kind', 'index', 'label', 'score', 'xmin', 'xmax', 'ymin', 'ymax'] as const;

function shortNumber(value: number | string | null): string {
  if (typeof value === 'string') return value;
  if (value === null) return 'not finite';
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(4)));
}

function corners({ xmin, xmax, ymin, ymax }: DetectedBox): string {
  const range = (from: number, to: number): string => `${from.toFixed(3)} to ${to.toFixed(3)}`;
  return `x ${range(xmin, xmax)}, y ${range(ymin, ymax)}`;
}

type Content = Omit<Row, 'input' | 'rank' | 'kind'>;

function contentsOf(feature: PredictedFeature): readonly Content[] {
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
      const covered = mask.reduce((sum, pixel) => sum + pixel, 0) / mask.length;
      const details = `${corners(feature)}; ${(covered * 100).toFixed(1)} % of ${height} x ${width} pixels`;
      return [{ index, label, score: probability, box: feature, details }];
    }
    case 'semantic_segment':
      return feature.shares.map(({ index, label, share }) => {
        const details = `${(share * 100).toFixed(1)} % of ${feature.height} x ${feature.width} pixels`;
        return { index, label, score: share, box: undefined, details };
      });
    case 'raw': {
      const { output, elementType, dims } = feature;
      const values = valuesOf({ ...feature, bytes: feature.bytes.subarray(0, SHOWN_VALUES * 8) });
      const first = values.slice(0, SHOWN_VALUES).map(shortNumber).join(', ');
      const isAll = dims.reduce((product, size) => product * size, 1) <= SHOWN_VALUES;
      const details = `${elementType} [${dims.join(', ')}]: ${first}${isAll ? '' : ', …'}`;
      return [{ index: null, label: output, score: null, box: undefined, details }];
    }
  }
}

function rowsOf({ inputId, outcome }: Prediction): readonly Row[] {
  if (outcome.kind === 'failure') {
    const nothing = { rank: null, index: null, score: null, box: undefined, details: '' };
    return [{ input: inputId, kind: 'error', label: outcome.message, ...nothing }];
  }
  const contents = outcome.features.flatMap((feature) => {
    return contentsOf(feature).map((content) => ({ kind: feature.kind, ...content }));
  });
  return contents.map((content, i) => ({ input: inputId, rank: i + 1, ...content }));
}

function resultOf({ kind, index, label }: Row): string {
  if (kind === 'error') return `error: ${label}`;
  return label === '' ? `class ${index}` : label;
}

const COLUMNS: readonly Column<Row>[] = [
  { title: 'input', align: 'left', cell: ({ input }) => input },
  { title: 'rank', align: 'right', cell: ({ rank }) => String(rank ?? '') },
  { title: 'result', align: 'left', cell: resultOf },
  { title: 'score', align: 'right', cell: ({ score }) => (score === null ? '' : shortNumber(score)) },
  { title: 'details', align: 'left', cell: ({ details }) => details },
];

function columnsFor(rows: readonly Row[]): readonly Column<Row>[] {
  return COLUMNS.filter(({ cell }) => rows.some((row) => cell(row) !== ''));
}

function meanMs(values: readonly number[]): string {
  return (values.reduce((sum, value) => sum + value, 0) / values.length).toFixed(3);
}

function notesOf(predictions: readonly Prediction[], traceId: string): readonly string[] {
  const batches = predictions.flatMap(({ batch }) => batch ?? []);
  const failed = predictions.filter(({ outcome }) => outcome.kind === 'failure').length;
  const none = predictions.filter(({ outcome }) => outcome.kind === 'features' && outcome.features.length === 0).length;
  const times = (['preprocess', 'inference', 'postprocess'] as const).map((step) => {
    return `${meanMs(batches.map((batch) => batch[`${step}Ms`]))} ms ${step}`;
  });
  const counted = `inputs: ${predictions.length}, without a prediction: ${failed}`;
  return [
    none === 0 ? counted : `${counted}, with nothing found: ${none}`,
    ...(batches.length === 0 ? [] : [`batches: ${batches.length}, mean times: ${times.join(', ')}`]),
    ...(traceId === '' ? [] : [`trace: ${traceId}`]),
  ];
}

export function predictionResult(predictions: readonly Prediction[], traceId: string): TableResult {
  const rows = predictions.flatMap(rowsOf);
  return {
    document: predictions.map(predictionDocument),
    records: {
      keys: KEYS,
      rows: rows.map(({ input, rank, kind, index, label, score, box }) => {
        return [input, rank, kind, index, label, score, box?.xmin, box?.xmax, box?.ymin, box?.ymax];
      }),
    },
    table: textTable(columnsFor(rows), rows),
    notes: notesOf(predictions, traceId),
  };
}

/** For people. @param width columns of the terminal; undefined where there is none */
export function predictionText(predictions: readonly Prediction[], traceId: string, width: number | undefined): string {
  const rows = predictions.flatMap(rowsOf);
  const notes = notesOf(predictions, traceId);
  if (rows.length === 0) return `${notes.join('\n')}\n`;
  const { text } = fittingTable(columnsFor(rows), rows, { width, dispensable: ['details', 'rank'] });
  return `${[text, ...notes].join('\n')}\n`;
}
