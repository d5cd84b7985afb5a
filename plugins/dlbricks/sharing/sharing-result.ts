import {
  type Column,
  counted,
  drawn,
  fittingTable,
  heatMapSvg,
  left,
  leftOutLines,
  oneLine,
  type Page,
  type Provenance,
  provenanceField,
  right,
  type ShownResult,
  type TableResult,
  textTable,
  UNKNOWN,
  wrap,
  z,
} from '../../../src/plugin-api.js';
import { CUTS } from '../cut/cut.js';
import { percent } from '../report/words.js';
import { savingsSections } from '../report/savings.js';
import { jaccardSchema, type ModelSharing, modelSharingSchema, type Sharing } from './sharing.js';

const FORMAT = 'dlbricks-sharing/1';

export const sharingSchema = z.strictObject({
  format: z.literal(FORMAT),
  provenance: provenanceField,
  settings: z.strictObject({ cut: z.enum(CUTS), granularity: z.int(), batch: z.int() }),
  sequences: z.int(),
  unique_bricks: z.int(),
  models: z.array(modelSharingSchema),
  jaccard: jaccardSchema,
});

export type SharingSettings = z.infer<typeof sharingSchema>['settings'];

const COLUMNS: readonly Column<ModelSharing>[] = [
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

function listNotes({ models, sequences, unique }: Sharing, { cut, granularity }: SharingSettings): string[] {
  const sequence = granularity === 1 ? `one ${cut}` : `up to ${granularity} ${cut}s`;
  const notes = [`a sequence is ${sequence}: ${counted(sequences, 'sequence')}, ${unique} different ones (bricks)`];
  if (models.length > 1 && models.some((model) => model.covered_by_others_time_percent === null)) {
    notes.push(`the time in other models is ${UNKNOWN} where a brick of the model is not measured here`);
  }
  if (models.some(({ measured_percent: measured }) => measured > 0 && measured < 100)) {
    notes.push('≈: the time of unmeasured bricks is estimated from their shapes, to an order of magnitude');
  }
  return notes;
}

/** The records have one more column for each model: the Jaccard index of the two in percent. */
function buildTableResult(sharing: Sharing, settings: SharingSettings, provenance: Provenance | null): TableResult {
  const { models, jaccard, sequences, unique } = sharing;
  const keys = Object.keys(modelSharingSchema.shape) as (keyof ModelSharing)[];
  const document: z.infer<typeof sharingSchema> = {
    format: FORMAT,
    provenance,
    settings,
    sequences,
    unique_bricks: unique,
    models: [...models],
    jaccard,
  };
  return {
    document,
    records: {
      keys: [...keys, 'batch', ...models.map(({ name }) => `jaccard ${name}`)],
      rows: models.map((model, index) => [
        ...keys.map((key) => model[key]),
        settings.batch,
        ...(jaccard[index] ?? []).map((share) => share * 100),
      ]),
    },
    table: textTable(COLUMNS, models),
    notes: listNotes(sharing, settings),
  };
}

export function sharingHeatMap({ models, jaccard }: Sharing): string {
  return heatMapSvg({ title: 'Unique bricks in common', names: models.map(({ name }) => name), values: jaccard });
}

function buildPage(sharing: Sharing, { batch }: SharingSettings): Page {
  const { models, jaccard, sequences, unique } = sharing;
  const names = models.map(({ name }) => name);
  const saved = sequences === 0 ? UNKNOWN : percent((1 - unique / sequences) * 100, 0);
  const lead = 'Unique bricks that both models have, in percent of those that at least one has.';
  return {
    title: `What ${counted(models.length, 'model')} share, batch ${batch}: ${names.join(', ')}`,
    verdict: `${counted(sequences, 'sequence')} need ${counted(unique, 'measurement')}, since ${saved} of them repeat others.`,
    sections: [
      { title: 'Models', table: textTable(COLUMNS, models) },
      ...savingsSections(models),
      { title: 'In common', lead, chart: drawn(sharingHeatMap(sharing)) },
      {
        title: 'Jaccard index of each pair (%)',
        table: {
          titles: ['model', ...names],
          aligns: ['left', ...names.map(() => 'right' as const)],
          rows: names.map((name, index) => [name, ...(jaccard[index] ?? []).map((share) => (share * 100).toFixed(1))]),
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
  return {
    result: () => buildTableResult(sharing, settings, provenance),
    page: () => buildPage(sharing, settings),
    text: ({ width = Infinity }) => {
      const table = fittingTable(COLUMNS, sharing.models, { width, dispensable: DISPENSABLE });
      const notes = listNotes(sharing, settings).map((line) => wrap(line, width, '  '));
      return [table.text, ...leftOutLines(table, width), ...notes, ''].join('\n');
    },
  };
}
