import { type Provenance, provenanceField, sumOf, withSnakeKeys, z, groupedBy } from '../../../src/plugin-api.js';
import { CONFIDENCE, geometricMean } from '../estimate/statistics.js';
import { type EstimateSettings, STATISTICS, computeStatistic, type TracedSum } from './estimate-from-traces.js';
import { REUSES } from './find-occurrences.js';
import type { FoundBy } from './match-level.js';
import { TARGET_GRAPHS, type TraceBook } from './trace-book.js';
import { computeInterval, learnFromWholeModels } from './whole-models.js';
import { computeAccuracy } from '../report/figures.js';

const ms = z.number().nonnegative().nullable();
const number = z.number().nullable();

const foundBySchema = z.enum(['position', 'signature', 'attributes', 'shapes', 'partial', 'fill']);

const layerSchema = z.strictObject({
  position: z.string(),
  name: z.string(),
  operators: z.array(z.string()),
  ms,
  found_by: foundBySchema
    .nullable()
    .describe('The level at which the measurements in use match the layer; null: missing'),
  occurrences: z.int().describe('Number of measurements behind the latency'),
  reason: z.string().nullable().describe('Why it could not be filled in, where that was asked for'),
});

const modelSchema = z.strictObject({
  name: z.string(),
  graph: z
    .enum(TARGET_GRAPHS)
    .describe('Where the layers are from: the trace, the file, or the graph that the runtime makes of the file'),
  layers: z.int(),
  sequences: z.int(),
  unique: z.int().describe('Different sequences'),
  measured_share: z.number().describe('Share of the sequences that were measured'),
  coverage: z.number().describe('Share of the sequences that have a latency, measured or filled in'),
  covers_whole_model: z.boolean(),
  estimate_ms: ms.describe('Sum over the sequences that have a latency; part of the model where coverage is below 1'),
  estimate_low_ms: ms,
  estimate_high_ms: ms,
  filled_ms: z.number().describe('Part of estimate_ms that was filled in'),
  parallel_ms: ms.describe('Longest path; null where the edges are not known'),
  end_to_end_ms: ms.describe('The whole model as it was measured, without tracing its layers'),
  normalized_latency: number.describe('estimate_ms / end_to_end_ms, at any coverage'),
  whole_models: z.int().describe('Other models whose whole latency the interval was learned from'),
  found_by: z.partialRecord(foundBySchema, z.int()).describe('Sequences by how their latency was found'),
  sequence_list: z.array(layerSchema),
});

const summarySchema = z.strictObject({
  models: z.int(),
  layers: z.int(),
  sequences: z.int(),
  unique: z.int(),
  complete_models: z.int().describe('Models with full coverage and a known whole latency'),
  geomean_normalized_latency: number.describe('Over complete_models'),
  mape_percent: number,
  worst_percent: number,
  within_5_percent: z.int(),
  within_10_percent: z.int(),
  within_interval: z.int().describe('Of complete_models, those whose whole latency is in the interval'),
  with_interval: z.int().describe('Of complete_models, those that have an interval'),
  compared_models: z.int().describe('Models with any coverage and a known whole latency'),
  geomean_of_compared: number.describe(
    'The same over compared_models: estimates of parts of models count as if they were of whole models',
  ),
  whole_seconds: number.describe('One run of each of compared_models'),
  unique_seconds: number.describe('One run of each unique measured sequence of these models'),
  speedup: number.describe('whole_seconds / unique_seconds'),
});

export const traceReportSchema = z.strictObject({
  format: z.literal('dlbricks-trace-report/1'),
  provenance: provenanceField,
  system: z.string().describe('The system of all measurements'),
  sources: z.array(z.string()),
  settings: z.strictObject({
    granularity: z.int().nullable(),
    statistic: z.enum(STATISTICS),
    occurrences: z.enum(REUSES),
    fill: z.boolean(),
    calibrate: z.boolean(),
    confidence: z.number(),
  }),
  corrections: z.array(
    z.strictObject({
      model: z.string(),
      source: z.string(),
      factor: z.number(),
      whole_ms: z.number(),
      traced_whole_ms: z.number(),
    }),
  ),
  repeated: z
    .array(z.strictObject({ model: z.string(), source: z.string() }))
    .describe('Left out: the same traces are in other sources, perhaps in another format'),
  models: z.array(modelSchema),
  summary: summarySchema,
});

export type TraceReport = z.infer<typeof traceReportSchema>;
export type TraceModelReport = TraceReport['models'][number];

export interface TraceReportSettings extends EstimateSettings {
  readonly system: string;
  readonly sources: readonly string[];
  readonly provenance?: Provenance;
  readonly granularity: number | undefined;
}

/** @param others estimates of the other models whose whole latency is in the traces */
function modelReport(
  sum: TracedSum,
  others: readonly TracedSum[],
  { calibrate, reuse }: EstimateSettings,
): TraceModelReport {
  const { target, parts, coverage, measuredShare, parallelMs } = sum;
  const learned = learnFromWholeModels(others, calibrate);
  const interval = computeInterval(sum, learned, reuse);
  const foundBy: Partial<Record<FoundBy, number>> = {};
  for (const part of parts) if (part.foundBy !== undefined) foundBy[part.foundBy] = (foundBy[part.foundBy] ?? 0) + 1;
  const factor = learned?.factor ?? 1;
  const endToEndMs = target.wholeMs ?? null;
  return {
    name: target.name,
    graph: target.graph,
    layers: target.layers,
    sequences: parts.length,
    unique: new Set(parts.map(({ sequence }) => sequence.identity)).size,
    measured_share: measuredShare,
    coverage,
    covers_whole_model: coverage === 1,
    estimate_ms: interval?.ms ?? null,
    estimate_low_ms: interval?.lowMs ?? null,
    estimate_high_ms: interval?.highMs ?? null,
    filled_ms:
      factor * parts.reduce((total, { foundBy: by, ms: part }) => total + (by === 'fill' ? (part ?? 0) : 0), 0),
    parallel_ms: parallelMs === undefined ? null : parallelMs * factor,
    end_to_end_ms: endToEndMs,
    normalized_latency:
      interval === undefined || endToEndMs === null || endToEndMs === 0 ? null : interval.ms / endToEndMs,
    whole_models: learned?.models ?? 0,
    found_by: foundBy,
    sequence_list: parts.map((part) => ({
      position: part.sequence.position,
      name: part.sequence.name,
      operators: part.sequence.layers.map(({ operator }) => operator),
      ms: part.ms ?? null,
      found_by: part.foundBy ?? null,
      occurrences: part.occurrences,
      reason: part.reason ?? null,
    })),
  };
}

function uniqueMs(sums: readonly TracedSum[], { occurrences }: TraceBook, settings: EstimateSettings): number {
  const measured = sums.flatMap(({ parts }) =>
    parts.filter(({ foundBy }) => foundBy !== undefined && foundBy !== 'fill'),
  );
  const wanted = new Set(measured.map(({ sequence }) => sequence.identity));
  const used = occurrences.filter(({ identity }) => wanted.has(identity));
  const times = [...groupedBy(used, ({ identity }) => identity).values()].map((list) => list.map(({ ms: one }) => one));
  return sumOf(times.map((list) => computeStatistic(list, settings.statistic)));
}

function buildSummary(
  sums: readonly TracedSum[],
  models: readonly TraceModelReport[],
  book: TraceBook,
  settings: EstimateSettings,
): TraceReport['summary'] {
  const compared = models.filter(({ normalized_latency: value }) => value !== null);
  const complete = compared.filter((model) => model.covers_whole_model);
  const normalized = (some: readonly TraceModelReport[]): number[] =>
    some.flatMap(({ normalized_latency: value }) => value ?? []);
  const withInterval = complete.filter(({ estimate_low_ms: low }) => low !== null);
  const comparedSums = sums.filter((_sum, i) => models[i]?.normalized_latency !== null);
  const wholeMs = comparedSums.reduce((total, { target }) => total + (target.wholeMs ?? 0), 0);
  const unique = uniqueMs(comparedSums, book, settings);
  const isComparable = comparedSums.length > 0 && unique > 0;
  return {
    models: models.length,
    layers: models.reduce((total, { layers }) => total + layers, 0),
    sequences: models.reduce((total, { sequences }) => total + sequences, 0),
    unique: new Set(sums.flatMap(({ parts }) => parts.map(({ sequence }) => sequence.identity))).size,
    complete_models: complete.length,
    ...computeAccuracy(normalized(complete)),
    within_interval: withInterval.filter(({ end_to_end_ms: whole, estimate_low_ms: low, estimate_high_ms: high }) => {
      return whole !== null && low !== null && high !== null && low <= whole && whole <= high;
    }).length,
    with_interval: withInterval.length,
    compared_models: compared.length,
    geomean_of_compared: geometricMean(normalized(compared)) ?? null,
    whole_seconds: isComparable ? wholeMs / 1000 : null,
    unique_seconds: isComparable ? unique / 1000 : null,
    speedup: isComparable ? wholeMs / unique : null,
  };
}

/** @param known of all models whose whole latency is in the traces, without their own measurements unless asked for */
export function buildTraceReport(
  sums: readonly TracedSum[],
  known: readonly TracedSum[],
  book: TraceBook,
  settings: TraceReportSettings,
): TraceReport {
  const { system, sources, provenance = null, granularity, statistic, reuse, fill, calibrate } = settings;
  const given = { statistic, occurrences: reuse, fill, calibrate };
  const models = sums.map((sum) => {
    const others = known.filter(({ target }) => target.name !== sum.target.name);
    return modelReport(sum, others, settings);
  });
  return {
    format: 'dlbricks-trace-report/1',
    provenance,
    system,
    sources: [...sources],
    settings: { granularity: granularity ?? null, ...given, confidence: CONFIDENCE },
    corrections: withSnakeKeys(book.corrections),
    repeated: [...book.repeated],
    models,
    summary: buildSummary(sums, models, book, settings),
  };
}
