import { type AnalysisTable, counted, type DrawnGraph, formatMs, provenanceField, z } from '../../../src/plugin-api.js';
import { percent } from '../report/figures.js';
import { geometricMean } from '../estimate/statistics.js';
import { RESOLUTION } from './advice.js';
import type { Advice } from './advise.js';

export const FORMAT = 'dlbricks-advice/1';

const OUTCOMES = ['holds', 'does_not_hold', 'not_seen'] as const;

export type Outcome = (typeof OUTCOMES)[number];

const ms = z.number();

const savingSchema = z.strictObject({
  saving_ms: ms.describe('Below zero where the setting costs time'),
  low_ms: ms
    .nullable()
    .describe('95 %, by the differences within rounds, and by what bricks differ from the model; null with one round'),
  high_ms: ms.nullable(),
  share: z.number().describe('Of the time as it runs today'),
  seen: z.boolean().describe('Whether the interval is above zero, and the share above the resolution'),
});

const modelSchema = z.strictObject({
  name: z.string(),
  threads: z.int(),
  measured_ms: ms.describe('The whole model'),
  kernels_ms: ms.describe('The sum of its kernels, measured as bricks'),
  variants: z.array(
    z.strictObject({
      setting: z.string(),
      kernels_ms: ms,
      same_graph: z.boolean().describe('Whether the runtime makes the kernels of today'),
      saving: savingSchema.nullable(),
    }),
  ),
  not_tried: z.array(z.strictObject({ setting: z.string(), reason: z.string() })),
  floor_ms: ms.describe('Each unit as fast as in its fastest variant, without changes of layout'),
  floor_with_reorders_ms: ms.nullable().describe('With the changes of layout; null where no kernel tells their cost'),
  parallel_floor_ms: ms.describe('The longest path through the kernels'),
  parallelism: z.number(),
  longest_path: z
    .array(z.strictObject({ kernel: z.string(), operator: z.string(), ms }))
    .describe('Kernels on it, in their order'),
  ratio: z.number().describe('Floor over measured; an estimate, which may exceed 1'),
  parallel_ratio: z.number(),
  scaling: z
    .strictObject({ ratio: z.number(), low: z.number().nullable(), high: z.number().nullable() })
    .nullable()
    .describe('Time with one thread over time with all; null with one thread'),
  call_ms: ms.nullable().describe("A run without work; null without 'mlmodelscope machine'"),
  between_kernels_ms: ms.nullable().describe('By the profile, which adds its own cost'),
  between_kernels_us_each: ms.nullable(),
  fusion: z.strictObject({
    taken: savingSchema.nullable().describe('basic against extended'),
    blocked_layout: savingSchema.nullable().describe('extended against today'),
    kernels_fewer: z.int(),
    possible_chains: z.int(),
    possible_bytes: z.number(),
    possible_most_ms: ms.nullable().describe("null without 'mlmodelscope machine'"),
  }),
  units: z.array(
    z.strictObject({ operators: z.string(), units: z.int(), today_ms: ms, best_ms: ms, setting: z.string() }),
  ),
  advice: z.array(
    z.strictObject({
      setting: z.string(),
      measured_by: z.enum(['bricks', 'whole model']),
      ...savingSchema.shape,
      verified: savingSchema.nullable().describe('The same on the whole model'),
      outcome: z
        .enum(OUTCOMES)
        .nullable()
        .describe('Of the claim on the whole model; not_seen: it varies too much to say; null: not verified'),
    }),
  ),
});

export const adviceSchema = z.strictObject({
  format: z.literal(FORMAT),
  provenance: provenanceField,
  rounds: z.int(),
  resolution: z.number().describe('Smaller shares are not seen'),
  geomean_ratio: z.number().nullable().describe('Of the ratios of all models; null without models'),
  geomean_parallel_ratio: z.number().nullable(),
  warnings: z.array(z.string()).default([]).describe('Why times may be far off'),
  models: z.array(modelSchema),
});

export type AdviceDocument = z.infer<typeof adviceSchema>;

export type AdviceOfModel = AdviceDocument['models'][number];

/** A time that a change saves. */
export type Saving = Readonly<z.infer<typeof savingSchema>>;

/** A setting that saves time. */
export type Claim = AdviceOfModel['advice'][number];

const OUTCOME_TEXTS = {
  holds: 'the claim holds',
  does_not_hold: 'the claim does not hold',
  not_seen: 'it varies too much to confirm the claim',
} as const satisfies Readonly<Record<Outcome, string>>;

export function adviceDocument(
  models: readonly AdviceOfModel[],
  rounds: number,
  provenance: AdviceDocument['provenance'],
  warnings: readonly string[] = [],
): AdviceDocument {
  return {
    format: FORMAT,
    provenance,
    rounds,
    resolution: RESOLUTION,
    geomean_ratio: geometricMean(models.map(({ ratio }) => ratio)) ?? null,
    geomean_parallel_ratio: geometricMean(models.map((model) => model.parallel_ratio)) ?? null,
    warnings: [...warnings],
    models: [...models],
  };
}

export function drawnAdvice(all: readonly Advice[]): readonly DrawnGraph[] {
  return all.map(({ model, floors: { kernels, edges } }) => ({
    title: `${model.name}: ${formatMs(model.parallel_floor_ms)} ms along the longest path, each kernel in its fastest variant`,
    nodes: kernels.map(({ name, operator, ms, isOnLongestPath }) => {
      return { name, detail: `${operator}, ${formatMs(ms)} ms`, isMarked: isOnLongestPath };
    }),
    edges,
  }));
}

function savingText({ saving_ms: ms, low_ms: low, high_ms: high, share }: Saving): string {
  const half = low === null || high === null ? '' : ` ± ${formatMs((high - low) / 2)}`;
  return `${formatMs(ms)}${half} ms (${percent(100 * share)})`;
}

function takenText(what: string, saving: Saving | null): string {
  if (saving === null) return `${what}: not measured, or there is none`;
  const { saving_ms: ms, low_ms: low, high_ms: high, share } = saving;
  if (high !== null && high < 0 && share < -RESOLUTION) {
    const cost = { ...saving, saving_ms: -ms, low_ms: -high, high_ms: low === null ? null : -low, share: -share };
    return `${what} costs ${savingText(cost)}`;
  }
  return saving.seen ? `${what} saves ${savingText(saving)}` : `${what}: not seen (${savingText(saving)})`;
}

function claimText(claim: Claim, rounds: number): string {
  const { setting, measured_by: by, verified, outcome } = claim;
  const how = `measured by ${by === 'bricks' ? 'its kernels' : 'the whole model'} in ${counted(rounds, 'round')}`;
  const checked =
    by === 'whole model' || verified === null
      ? ''
      : `; the whole model saves ${savingText(verified)}: ${OUTCOME_TEXTS[outcome ?? 'not_seen']}`;
  return `do ${setting}: saves ${savingText(claim)}, ${how}${checked}`;
}

const NOTHING_SEEN = `no setting saves more than ${percent(100 * RESOLUTION, 0)} here`;

export function adviceVerdict(all: readonly Pick<AdviceOfModel, 'name' | 'advice'>[], rounds: number): string {
  return all
    .map(({ name, advice: [first] }) => `${name}: ${first === undefined ? NOTHING_SEEN : claimText(first, rounds)}.`)
    .join(' ');
}

const NOT_KNOWN = "not known before 'mlmodelscope machine'";

function listNotes(model: AdviceOfModel, rounds: number): readonly string[] {
  const { name, floor_with_reorders_ms: withReorders, between_kernels_ms: between, fusion, advice } = model;
  const { between_kernels_us_each: each, call_ms: call, scaling } = model;
  const { possible_chains: chains, possible_bytes: bytes, possible_most_ms: most } = fusion;
  const floor =
    withReorders === null ? 'not known with changes of layout' : `${formatMs(withReorders)} ms with changes of layout`;
  const betweenText =
    between === null || each === null
      ? 'between kernels: not known'
      : `between kernels: ${formatMs(between)} ms, ${each.toFixed(1)} µs each, with the profile's own cost`;
  const same = model.variants
    .filter(({ same_graph: isSame, saving }) => isSame && saving === null)
    .map(({ setting }) => setting);
  return [
    `${name}: ${formatMs(model.measured_ms)} ms whole, ${formatMs(model.kernels_ms)} ms its kernels`,
    `  floor of what was measured: ${formatMs(model.floor_ms)} ms with free layouts, ${floor}; ratio ${model.ratio.toFixed(2)}`,
    `  in parallel: ${formatMs(model.parallel_floor_ms)} ms along the longest path, parallelism ${model.parallelism.toFixed(2)}`,
    ...(scaling === null ? [] : [`  ${model.threads} threads: ${scalingText(scaling)} as fast as one`]),
    `  ${betweenText}; a call without work: ${call === null ? NOT_KNOWN : `${formatMs(call)} ms`}`,
    `  ${takenText(`fusing (${counted(fusion.kernels_fewer, 'kernel')} fewer)`, fusion.taken)}; ${takenText('the blocked layout', fusion.blocked_layout)}`,
    `  not fused: ${counted(chains, 'pair')} of elementwise kernels, ${(bytes / 1e6).toFixed(2)} MB of memory; saves ${most === null ? NOT_KNOWN : `${formatMs(most)} ms at most`}`,
    ...(same.length === 0 ? [] : [`  changes no kernel: ${same.join(', ')}`]),
    ...model.not_tried.map(({ setting, reason }) => `  not tried: ${setting}: ${reason}`),
    ...(advice.length === 0 ? [`  not seen: ${NOTHING_SEEN}`] : advice.map((claim) => `  ${claimText(claim, rounds)}`)),
    ...(advice.length > 1
      ? ['  Settings of --optimization-level exclude each other; savings of several settings do not add up.']
      : []),
  ];
}

function scalingText({ ratio, low, high }: NonNullable<AdviceOfModel['scaling']>): string {
  const half = low === null || high === null ? '' : ` ± ${((high - low) / 2).toFixed(2)}`;
  return `${ratio.toFixed(2)}${half} times`;
}

function geomeanNotes({ models, geomean_ratio: ratio, geomean_parallel_ratio: parallel }: AdviceDocument) {
  if (models.length < 2 || ratio === null || parallel === null) return [];
  return [
    `${counted(models.length, 'model')}: geometric mean of the ratios ${ratio.toFixed(3)}, in parallel ${parallel.toFixed(3)}`,
  ];
}

const MAX_UNITS = 10;

/** Smaller savings, as a share of the model, would be shown as 0 %. */
const MIN_SHARE = 0.0005;

export function adviceTable(document: AdviceDocument): AnalysisTable {
  const { models, rounds } = document;
  return {
    columns: [
      { key: 'model', title: 'model', align: 'left' },
      { key: 'unit', title: 'unit', align: 'left' },
      { key: 'count', title: 'count', align: 'right' },
      { key: 'today_ms', title: 'today', unit: 'ms', align: 'right' },
      { key: 'best_ms', title: 'best', unit: 'ms', align: 'right' },
      { key: 'saving_percent', title: 'of the model', unit: '%', align: 'right' },
      { key: 'setting', title: 'with', align: 'left' },
    ],
    rows: models.flatMap(({ name, units, kernels_ms: kernelsMs }) =>
      units
        .filter(({ today_ms: today, best_ms: best }) => today - best >= MIN_SHARE * kernelsMs)
        .slice(0, MAX_UNITS)
        .map(({ operators, units: count, ...unit }) => {
          const percentage = (100 * (unit.today_ms - unit.best_ms)) / kernelsMs;
          return { model: name, unit: operators, count, ...unit, saving_percent: percentage };
        }),
    ),
    notes: [...models.flatMap((model) => listNotes(model, rounds)), ...geomeanNotes(document)],
  };
}
