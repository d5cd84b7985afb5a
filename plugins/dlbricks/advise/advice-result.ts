import {
  type AnalysisTable,
  counted,
  type DrawnGraph,
  provenanceField,
  withSnakeKeys,
  z,
} from '../../../src/plugin-api.js';
import { formatMs, percent } from '../report/words.js';
import { geometricMean } from '../estimate/statistics.js';
import type { Advice, Claim, Scaling } from './advise.js';
import { RESOLUTION, type Saving } from './advice.js';

const FORMAT = 'dlbricks-advice/1';

const OUTCOMES = ['holds', 'does_not_hold', 'not_seen'] as const;

const OUTCOME_TEXTS = {
  holds: 'the claim holds',
  does_not_hold: 'the claim does not hold',
  not_seen: 'it varies too much to confirm the claim',
} as const satisfies Readonly<Record<Outcome, string>>;

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
  models: z.array(modelSchema),
});

type AdviceDocument = z.infer<typeof adviceSchema>;

function savingField({ ms: saved, low, high, share, isSeen }: Saving): z.infer<typeof savingSchema> {
  return { saving_ms: saved, low_ms: low, high_ms: high, share, seen: isSeen };
}

const orNull = (saving: Saving | undefined): z.infer<typeof savingSchema> | null =>
  saving === undefined ? null : savingField(saving);

type Outcome = (typeof OUTCOMES)[number];

export function judgeClaim({ saving, verified }: Pick<Claim, 'saving' | 'verified'>): Outcome | null {
  if (verified === undefined) return null;
  const [one, other] = [saving, verified].map(({ ms: of, low, high }) => [low ?? of, high ?? of] as const);
  const overlap = one !== undefined && other !== undefined && one[0] <= other[1] && other[0] <= one[1];
  if (!overlap) return 'does_not_hold';
  return (verified.low ?? 0) > 0 ? 'holds' : 'not_seen';
}

const computeRatio = ({ floors, measuredMs }: Advice): number => floors.freeMs / measuredMs;

const computeParallelRatio = ({ floors, measuredMs }: Advice): number => floors.parallelMs / measuredMs;

function documentOfModel(advice: Advice): z.infer<typeof modelSchema> {
  const { model, threads, measuredMs, kernelsMs, variants, notTried, floors, framework, fusion, possible } = advice;
  const { claims, scaling, callMs } = advice;
  return {
    name: model,
    threads,
    measured_ms: measuredMs,
    kernels_ms: kernelsMs,
    variants: variants.map(({ setting, ms: of, isSameGraph, saving }) => {
      return { setting, kernels_ms: of, same_graph: isSameGraph, saving: orNull(saving) };
    }),
    not_tried: notTried.map((one) => ({ ...one })),
    floor_ms: floors.freeMs,
    floor_with_reorders_ms: floors.withReordersMs ?? null,
    parallel_floor_ms: floors.parallelMs,
    parallelism: floors.parallelism,
    longest_path: floors.kernels
      .filter(({ isOnLongestPath }) => isOnLongestPath)
      .map(({ name, operator, ms: of }) => ({ kernel: name, operator, ms: of })),
    ratio: computeRatio(advice),
    parallel_ratio: computeParallelRatio(advice),
    scaling:
      scaling === undefined ? null : { ratio: scaling.ratio, low: scaling.low ?? null, high: scaling.high ?? null },
    call_ms: callMs ?? null,
    between_kernels_ms: framework?.betweenMs ?? null,
    between_kernels_us_each: framework?.perKernelUs ?? null,
    fusion: {
      taken: orNull(fusion.taken),
      blocked_layout: orNull(fusion.layout),
      kernels_fewer: fusion.sites,
      possible_chains: possible.chains,
      possible_bytes: possible.bytes,
      possible_most_ms: possible.mostMs,
    },
    units: withSnakeKeys(floors.units),
    advice: claims.map((claim) => ({
      setting: claim.setting,
      measured_by: claim.by,
      ...savingField(claim.saving),
      verified: orNull(claim.verified),
      outcome: judgeClaim(claim),
    })),
  };
}

export function adviceDocument(
  advice: readonly Advice[],
  rounds: number,
  provenance: AdviceDocument['provenance'],
): AdviceDocument {
  return {
    format: FORMAT,
    provenance,
    rounds,
    resolution: RESOLUTION,
    geomean_ratio: geometricMean(advice.map(computeRatio)) ?? null,
    geomean_parallel_ratio: geometricMean(advice.map(computeParallelRatio)) ?? null,
    models: advice.map(documentOfModel),
  };
}

export function drawnAdvice(all: readonly Advice[]): readonly DrawnGraph[] {
  return all.map(({ model, floors: { kernels, edges, parallelMs } }) => ({
    title: `${model}: ${formatMs(parallelMs)} ms along the longest path, each kernel in its fastest variant`,
    nodes: kernels.map(({ name, operator, ms: of, isOnLongestPath }) => {
      return { name, detail: `${operator}, ${formatMs(of)} ms`, isMarked: isOnLongestPath };
    }),
    edges,
  }));
}

function savingText({ ms: saved, low, high, share }: Saving): string {
  const half = low === null || high === null ? '' : ` ± ${formatMs((high - low) / 2)}`;
  return `${formatMs(saved)}${half} ms (${percent(100 * share)})`;
}

function takenText(what: string, saving: Saving | undefined): string {
  if (saving === undefined) return `${what}: not measured, or there is none`;
  const { ms: saved, low, high, share } = saving;
  if (high !== null && high < 0 && share < -RESOLUTION) {
    const cost = { ...saving, ms: -saved, low: -high, high: low === null ? null : -low, share: -share };
    return `${what} costs ${savingText(cost)}`;
  }
  return saving.isSeen ? `${what} saves ${savingText(saving)}` : `${what}: not seen (${savingText(saving)})`;
}

function claimText(claim: Claim, rounds: number): string {
  const by = `measured by ${claim.by === 'bricks' ? 'its kernels' : 'the whole model'} in ${rounds} rounds`;
  const { verified } = claim;
  const outcome =
    claim.by === 'whole model' || verified === undefined
      ? ''
      : `; the whole model saves ${savingText(verified)}: ${OUTCOME_TEXTS[judgeClaim(claim) ?? 'not_seen']}`;
  return `do ${claim.setting}: saves ${savingText(claim.saving)}, ${by}${outcome}`;
}

const NOTHING_SEEN = `no setting saves more than ${percent(100 * RESOLUTION, 0)} here`;

export function adviceVerdict(all: readonly Pick<Advice, 'model' | 'claims'>[], rounds: number): string {
  return all
    .map(({ model, claims: [first] }) => `${model}: ${first === undefined ? NOTHING_SEEN : claimText(first, rounds)}.`)
    .join(' ');
}

function listNotes(advice: Advice, rounds: number): readonly string[] {
  const { model, threads, measuredMs, kernelsMs, floors, framework, fusion, possible, claims, notTried } = advice;
  const { variants, scaling, callMs } = advice;
  const floor =
    floors.withReordersMs === undefined
      ? 'not known with changes of layout'
      : `${formatMs(floors.withReordersMs)} ms with changes of layout`;
  const between =
    framework === undefined
      ? 'between kernels: not known'
      : `between kernels: ${formatMs(framework.betweenMs)} ms, ${framework.perKernelUs.toFixed(1)} µs each, with the profile's own cost`;
  const most =
    possible.mostMs === null ? "not known before 'mlmodelscope machine'" : `${formatMs(possible.mostMs)} ms at most`;
  const call = callMs === undefined ? "not known before 'mlmodelscope machine'" : `${formatMs(callMs)} ms`;
  const same = variants
    .filter(({ isSameGraph, saving }) => isSameGraph && saving === undefined)
    .map(({ setting }) => setting);
  return [
    `${model}: ${formatMs(measuredMs)} ms whole, ${formatMs(kernelsMs)} ms its kernels`,
    `  floor of what was measured: ${formatMs(floors.freeMs)} ms with free layouts, ${floor}; ratio ${computeRatio(advice).toFixed(2)}`,
    `  in parallel: ${formatMs(floors.parallelMs)} ms along the longest path, parallelism ${floors.parallelism.toFixed(2)}`,
    ...(scaling === undefined ? [] : [`  ${threads} threads: ${scalingText(scaling)} as fast as one`]),
    `  ${between}; a call without work: ${call}`,
    `  ${takenText(`fusions (${fusion.sites} kernels fewer)`, fusion.taken)}; ${takenText('the blocked layout', fusion.layout)}`,
    `  not fused: ${possible.chains} pairs of elementwise kernels, ${(possible.bytes / 1e6).toFixed(2)} MB of memory; saves ${most}`,
    ...(same.length === 0 ? [] : [`  changes no kernel: ${same.join(', ')}`]),
    ...notTried.map(({ setting, reason }) => `  not tried: ${setting}: ${reason}`),
    ...(claims.length === 0 ? [`  not seen: ${NOTHING_SEEN}`] : claims.map((claim) => `  ${claimText(claim, rounds)}`)),
    ...(claims.length > 1
      ? ['  Settings of --optimization-level exclude each other; savings of several settings do not add up.']
      : []),
  ];
}

function scalingText({ ratio, low, high }: Scaling): string {
  const half = low === undefined || high === undefined ? '' : ` ± ${((high - low) / 2).toFixed(2)}`;
  return `${ratio.toFixed(2)}${half} times`;
}

function geomeanNotes(all: readonly Advice[]): readonly string[] {
  const [sequential, parallel] = [computeRatio, computeParallelRatio].map((of) => geometricMean(all.map(of)));
  if (all.length < 2 || sequential === undefined || parallel === undefined) return [];
  return [
    `${counted(all.length, 'model')}: geometric mean of the ratios ${sequential.toFixed(3)}, in parallel ${parallel.toFixed(3)}`,
  ];
}

const MAX_UNITS = 10;

/** Smaller savings, as a share of the model, would be shown as 0 %. */
const MIN_SHARE = 0.0005;

export function adviceTable(all: readonly Advice[], rounds: number): AnalysisTable {
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
    rows: all.flatMap(({ model, floors, kernelsMs }) =>
      floors.units
        .filter(({ todayMs, bestMs }) => todayMs - bestMs >= MIN_SHARE * kernelsMs)
        .slice(0, MAX_UNITS)
        .map(({ operators, units, todayMs, bestMs, setting }) => ({
          model,
          unit: operators,
          count: units,
          today_ms: todayMs,
          best_ms: bestMs,
          saving_percent: (100 * (todayMs - bestMs)) / kernelsMs,
          setting,
        })),
    ),
    notes: [...all.flatMap((advice) => listNotes(advice, rounds)), ...geomeanNotes(all)],
  };
}
