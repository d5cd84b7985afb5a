import {
  type Column,
  counted,
  drawn,
  fittingTable,
  heatMapSvg,
  left,
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
  leftOutLines,
  groupedBy,
  sumOf,
  type System,
} from '../../../src/plugin-api.js';
import { CUTS } from '../cut/cut.js';
import { percent } from '../report/figures.js';
import { savingsSections, newAmong } from '../report/savings.js';
import { computeContext } from '../bricks/needs.js';
import { countBricks, type ModelRecipe } from '../bricks/recipe.js';
import { brickKey, brickLatency, type Observations } from '../estimate/brick-latency.js';

export interface BricksOfModel {
  readonly recipe: ModelRecipe;
  /** Latency of each brick in order of magnitude, from its shapes alone; ms. */
  readonly roughMs: readonly number[];
}

const percentage = z.number().min(0);

const modelSharingSchema = z.strictObject({
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

type ModelSharing = z.infer<typeof modelSharingSchema>;

export type Sharing = ReturnType<typeof sharingAmong>;

type KeyedModel = ReturnType<typeof keyed>;

/** The same brick in another context counts as another brick. */
function keyed(model: BricksOfModel, system: System, observations: Observations) {
  const { recipe } = model;
  const context = computeContext(recipe, system);
  return {
    ...model,
    keys: recipe.bricks.map((brick) => brickKey(brick, context)),
    counts: countBricks(recipe),
    latencies: recipe.bricks.map((brick) => {
      const latency = brickLatency(brick, context, observations);
      return latency.kind === 'known' ? latency.ms : undefined;
    }),
  };
}

/** Percentage of a model's sequences whose brick passes, weighted by brick; 0 for a model without sequences. */
function computePercentage(
  { counts }: KeyedModel,
  passes: (brick: number) => boolean,
  weightOf: (brick: number) => number = () => 1,
): number {
  const weights = counts.map((count, brick) => count * weightOf(brick));
  const total = sumOf(weights);
  return total > 0 ? (100 * sumOf(weights.filter((_, brick) => passes(brick)))) / total : 0;
}

function computeModelSharing(
  model: KeyedModel,
  modelsOf: ReadonlyMap<string, readonly unknown[]>,
  hasOthers: boolean,
  newBricks: number,
): ModelSharing {
  const { recipe, keys, latencies, roughMs } = model;
  const isShared = (brick: number): boolean => (modelsOf.get(keys[brick] ?? '')?.length ?? 0) > 1;
  const isMeasured = (brick: number): boolean => latencies[brick] !== undefined;
  const isTimed = hasOthers && latencies.every((latency) => latency !== undefined);
  const sequences = recipe.sequences.length;
  return {
    name: recipe.name,
    layers: recipe.layers,
    sequences,
    unique_bricks: keys.length,
    new_bricks: newBricks,
    own_repeats_percent: sequences === 0 ? 0 : (100 * (sequences - keys.length)) / sequences,
    covered_by_others_percent: hasOthers ? computePercentage(model, isShared) : null,
    covered_by_others_time_percent: isTimed
      ? computePercentage(model, isShared, (brick) => latencies[brick] ?? 0)
      : null,
    measured_percent: computePercentage(model, isMeasured),
    // Uses the shapes of all bricks: estimates from shapes and measured latencies do not add up to one total.
    measured_time_percent: computePercentage(model, isMeasured, (brick) => roughMs[brick] ?? 0),
  };
}

function jaccard(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  let shared = 0;
  for (const key of one) if (other.has(key)) shared++;
  const all = one.size + other.size - shared;
  return all === 0 ? 1 : shared / all;
}

/** For each two models, the different bricks that both have over those that at least one has; row by row. */
export function jaccardAmong(bricksOfModels: readonly ReadonlySet<string>[]): z.infer<typeof jaccardSchema> {
  return bricksOfModels.map((one) => bricksOfModels.map((other) => jaccard(one, other)));
}

/** Whatever the footprint of their model. */
function identifyBricks({ recipe }: KeyedModel): readonly string[] {
  return recipe.bricks.map((brick) => brickKey(brick, undefined));
}

/** Linear in the models' size, except for the matrix. @param observations may be empty */
export function sharingAmong(models: readonly BricksOfModel[], system: System, observations: Observations) {
  const all = models.map((model) => keyed(model, system, observations));
  const inModels = all.flatMap(({ keys }) => [...new Set(keys)]);
  const modelsOf = groupedBy(inModels, (key) => key);
  const newBricks = newAmong(all.map(({ keys }) => keys));
  return {
    models: all.map((model, index) => computeModelSharing(model, modelsOf, all.length > 1, newBricks[index] ?? 0)),
    jaccard: jaccardAmong(all.map(({ keys }) => new Set(keys))),
    sequences: sumOf(models.map(({ recipe }) => recipe.sequences.length)),
    unique: modelsOf.size,
    ofOtherFootprints: modelsOf.size - new Set(all.flatMap(identifyBricks)).size,
  };
}

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

function listNotes(
  { models, sequences, unique, ofOtherFootprints }: Sharing,
  { cut, granularity }: SharingSettings,
): string[] {
  const sequence = granularity === 1 ? `one ${cut}` : `up to ${granularity} ${cut}s`;
  const notes = [
    `a sequence is ${sequence}: ${counted(sequences, 'sequence')}, ${counted(unique, 'different one')} (bricks)`,
  ];
  if (ofOtherFootprints > 0) {
    notes.push(
      `${counted(ofOtherFootprints, 'of them differs', 'of them differ')} from others only in the footprint of the model: weights that are colder in the caches are measured apart`,
    );
  }
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
