import {
  type Column,
  fittingTable,
  leftOutLines,
  oneLine,
  type Provenance,
  provenanceField,
  drawn,
  heatMapSvg,
  type Page,
  type ShownResult,
  type TableResult,
  textTable,
  wrap,
  z,
  counted,
  left,
  right,
} from '../../../src/plugin-api.js';
import { type Cut, CUTS } from '../cut/cut.js';
import { toPercent } from '../report/figures.js';
import { percent, UNKNOWN } from '../report/words.js';
import { savingsSections } from '../report/savings.js';
import type { ModelSharing, Sharing } from './sharing.js';

const FORMAT = 'dlbricks-sharing/1';

const percentage = z.number().min(0);

const rowSchema = z.strictObject({
  name: z.string(),
  layers: z.int(),
  sequences: z.int(),
  unique_bricks: z.int(),
  new_bricks: z.int().describe('Bricks that no model before it in this list has'),
  own_repeats_percent: percentage.describe('Sequences that repeat an earlier one of the same model'),
  covered_by_others_percent: percentage.nullable().describe('Sequences that another model has as well'),
  covered_by_others_time_percent: percentage.nullable().describe("Their share of the model's latency"),
  measured_percent: percentage.describe('Sequences whose brick is measured'),
  measured_time_percent: percentage.describe("Their share of the model's time, to an order of magnitude"),
});

export const jaccardSchema = z
  .array(z.array(z.number()))
  .describe('Different bricks that two models share over all different bricks of both, in the order of the models');

export const sharingSchema = z.strictObject({
  format: z.literal(FORMAT),
  provenance: provenanceField,
  settings: z.strictObject({ cut: z.enum(CUTS), granularity: z.int(), batch: z.int() }),
  sequences: z.int(),
  unique_bricks: z.int(),
  models: z.array(rowSchema),
  jaccard: jaccardSchema,
});

export interface SharingSettings {
  readonly cut: Cut;
  readonly granularity: number;
  readonly batch: number;
}

type Row = z.infer<typeof rowSchema>;

function buildRow(model: ModelSharing): Row {
  return {
    name: model.name,
    layers: model.layers,
    sequences: model.sequences,
    unique_bricks: model.unique,
    new_bricks: model.newBricks,
    own_repeats_percent: model.ownRepeats * 100,
    covered_by_others_percent: toPercent(model.coveredByOthers),
    covered_by_others_time_percent: toPercent(model.timeCoveredByOthers),
    measured_percent: model.measured * 100,
    measured_time_percent: model.timeMeasured * 100,
  };
}

const COLUMNS: readonly Column<Row>[] = [
  left('model', ({ name }) => oneLine(name)),
  right('layers', ({ layers }) => String(layers)),
  right('sequences', ({ sequences }) => String(sequences)),
  right('unique bricks', (row) => String(row.unique_bricks)),
  right('own repeats', (row) => percent(row.own_repeats_percent, 0)),
  right('in others', (row) => percent(row.covered_by_others_percent, 0)),
  right('in others (time)', (row) => percent(row.covered_by_others_time_percent, 0)),
  right('measured', (row) => percent(row.measured_percent, 0)),
  right('measured (time)', (row) => `≈ ${percent(row.measured_time_percent, 0)}`),
];

const DISPENSABLE = ['layers', 'own repeats', 'measured', 'sequences', 'in others', 'unique bricks'];

function listNotes({ sequences, unique }: Sharing, rows: readonly Row[], settings: SharingSettings): string[] {
  const { cut, granularity } = settings;
  const sequence = granularity === 1 ? `one ${cut}` : `up to ${granularity} ${cut}s`;
  const notes = [`a sequence is ${sequence}: ${counted(sequences, 'sequence')}, ${unique} different ones (bricks)`];
  if (rows.length > 1 && rows.some((row) => row.covered_by_others_time_percent === null)) {
    notes.push(`the time in other models is ${UNKNOWN} where a brick of the model is not measured here`);
  }
  if (rows.some((row) => row.measured_percent > 0 && row.measured_percent < 100)) {
    notes.push('≈: the time of unmeasured bricks is estimated from their shapes, to an order of magnitude');
  }
  return notes;
}

/** The records have one more column for each model: the Jaccard index of the two in percent. */
function buildTableResult(
  sharing: Sharing,
  rows: readonly Row[],
  settings: SharingSettings,
  provenance: Provenance | null,
): TableResult {
  const keys = rows[0] === undefined ? [] : (Object.keys(rows[0]) as (keyof Row)[]);
  const document: z.infer<typeof sharingSchema> = {
    format: FORMAT,
    provenance,
    settings,
    sequences: sharing.sequences,
    unique_bricks: sharing.unique,
    models: [...rows],
    jaccard: sharing.jaccard.map((row) => [...row]),
  };
  return {
    document,
    records: {
      keys: [...keys, 'batch', ...rows.map(({ name }) => `jaccard ${name}`)],
      rows: rows.map((row, index) => [
        ...keys.map((key) => row[key]),
        settings.batch,
        ...(sharing.jaccard[index] ?? []).map((share) => share * 100),
      ]),
    },
    table: textTable(COLUMNS, rows),
    notes: listNotes(sharing, rows, settings),
  };
}

export function sharingHeatMap({ models, jaccard }: Sharing): string {
  return heatMapSvg({ title: 'Unique bricks in common', names: models.map(({ name }) => name), values: jaccard });
}

function buildPage(sharing: Sharing, rows: readonly Row[], { batch }: SharingSettings): Page {
  const { sequences, unique } = sharing;
  const saved = sequences === 0 ? UNKNOWN : percent((1 - unique / sequences) * 100, 0);
  const lead = 'Unique bricks that both models have, in percent of those that at least one has.';
  return {
    title: `What ${counted(rows.length, 'model')} share, batch ${batch}: ${rows.map(({ name }) => name).join(', ')}`,
    verdict: `${counted(sequences, 'sequence')} need ${counted(unique, 'measurement')}, since ${saved} of them repeat others.`,
    sections: [
      { title: 'Models', table: textTable(COLUMNS, rows) },
      ...savingsSections(sharing.models),
      { title: 'In common', lead, chart: drawn(sharingHeatMap(sharing)) },
      {
        title: 'Jaccard index of each pair (%)',
        table: {
          titles: ['model', ...rows.map(({ name }) => name)],
          aligns: ['left', ...rows.map(() => 'right' as const)],
          rows: rows.map(({ name }, index) => [
            name,
            ...(sharing.jaccard[index] ?? []).map((share) => (share * 100).toFixed(1)),
          ]),
        },
      },
    ],
  };
}

export function shownSharing(
  sharing: Sharing,
  settings: SharingSettings,
  provenance: Provenance | null = null,
): ShownResult {
  const rows = sharing.models.map(buildRow);
  return {
    result: () => buildTableResult(sharing, rows, settings, provenance),
    page: () => buildPage(sharing, rows, settings),
    text: ({ width = Infinity }) => {
      const table = fittingTable(COLUMNS, rows, { width, dispensable: DISPENSABLE });
      const notes = listNotes(sharing, rows, settings).map((line) => wrap(line, width, '  '));
      return [table.text, ...leftOutLines(table, width), ...notes, ''].join('\n');
    },
  };
}
