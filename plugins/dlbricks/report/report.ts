import { type Measurement, type Protocol, z, TRIM, trimmedMean } from '../../../src/plugin-api.js';
import { accuracyOf } from './accuracy.js';
import type { Costs, EstimateResult, ModelResult, PhaseCost } from './evaluation-result.js';
import { kernelWarning } from '../bricks/own-graph.js';
import type { Cut } from '../cut/cut.js';
import { noiseWarnings } from './noise.js';
import type { Interval } from '../estimate/statistics.js';
import { CONFIDENCE, meanOf } from '../estimate/statistics.js';

/** null: not known. Times are in ms. A missing measurement is never replaced by a guess or by zero. */
const ms = z.number().nonnegative().nullable();

const systemSchema = z.strictObject({
  fingerprint: z.string().describe('SHA-256 of the system and the protocol that a measurement depends on'),
  processor: z.string(),
  architecture: z.string(),
  operating_system: z.string(),
  cores: z.int(),
  memory_bytes: z.number(),
  processor_features: z.array(z.string()),
  framework: z.string(),
  framework_version: z.string(),
  threads: z.int(),
  execution_provider: z.string(),
  optimization_level: z.string(),
});

const settingsSchema = z.strictObject({
  cut: z.enum(['kernel', 'layer']).describe('Where graphs were cut'),
  granularity: z.int().describe('Longest brick, in kernels or layers'),
  batch: z.int(),
  warmup_runs: z.int(),
  runs: z.int().describe('Maximum number of timed runs per benchmark'),
  min_runs: z.int(),
  time_budget_ms: z.number().describe('No further run starts after this much time in runs, once min_runs are there'),
  target_error_percent: z
    .number()
    .nullable()
    .describe(
      'Bricks are measured on further occasions until measuring_error_percent is within this; null where bricks are not repeated, as at the layer cut or by compose',
    ),
  statistic: z.string(),
  confidence: z.number().describe('Share of cases in which intervals claim to hold the latency'),
});

export const missingSchema = z.strictObject({
  benchmark: z.enum(['brick', 'end_to_end']),
  signature: z.string(),
  operators: z.array(z.string()),
  shapes: z.array(z.string()).describe('Of its inputs, weights included; empty where they are not known'),
  sequences: z.int().describe("How many of the model's sequences this brick stands for"),
  reason: z.string(),
});

const brickSchema = z.strictObject({
  signature: z.string(),
  operators: z.array(z.string()),
  sequences: z.int().describe("How many of the model's sequences it stands for"),
  measured: z
    .enum(['together', 'copies', 'alone'])
    .describe("How: with other bricks in one graph by the runtime's profile, as copies in one graph, or on its own"),
  copies: z
    .int()
    .nullable()
    .describe('Copies in one graph that stand for it; null where it was not measured as copies'),
  latency_ms: ms.describe('Of one sequence'),
  occasions: z.int().describe('Number of measurements, each in a process of its own'),
  runs: z.int().describe('Timed runs of all occasions together'),
});

const modelSchema = z.strictObject({
  name: z.string(),
  cut: z.enum(['kernel', 'layer']).describe('Where its graph was cut'),
  layers: z.int(),
  kernels: z.int().nullable().describe("Kernels of the runtime's optimized graph; null at the layer cut"),
  kernel_differences: z
    .array(
      z.strictObject({
        operator: z.string(),
        of_file: z.int().describe("Kernels with the file's own weights"),
        made_up: z.int().describe('Kernels with made-up weights, which are estimated'),
      }),
    )
    .nullable()
    .describe(
      'Operators of which the optimized graphs of the file itself and of the filled one differ; null where that was not checked',
    ),
  unique_bricks: z.int(),
  coverage: z.number().min(0).max(1).describe('Share of the sequences that were measured'),
  estimate_ms: ms.describe('Latency constructed from bricks: the sum over all measured sequences'),
  estimate_low_ms: ms.describe(
    'Kernel cut: a measurement of the whole model in another process is expected above this with the stated confidence; layer cut: how far the mean of these very runs may be off',
  ),
  estimate_high_ms: ms,
  parallel_ms: ms.describe('Longest path through the sequences: the latency without any limit to parallelism'),
  parallelism: z
    .number()
    .nullable()
    .describe('estimate_ms / parallel_ms: how much faster it could be with sequences side by side; 1 is a chain'),
  longest_path: z.array(z.int()).describe('Indices of the sequences on it, in their order'),
  end_to_end_ms: ms.describe('Whole model as measured, before its bricks'),
  end_to_end_repeat_ms: ms.describe('Whole model as measured again, after everything else'),
  normalized_latency: z.number().nullable().describe('estimate_ms / end_to_end_ms; null where coverage is below 1'),
  interval_hit: z
    .boolean()
    .nullable()
    .describe(
      'Whether end_to_end_ms lies within the interval; null where one of them is not known, or coverage is below 1',
    ),
  measuring_error_percent: z
    .number()
    .nullable()
    .describe("Part of the interval's half width that measuring bricks on more occasions would reduce"),
  limited_by: z
    .enum(['target_error', 'occasions', 'time'])
    .nullable()
    .describe('Why its bricks were not measured on more occasions: precise enough, limit of occasions, or time limit'),
  bricks: z.array(brickSchema).describe('The bricks of the estimate'),
  missing: z.array(missingSchema),
});

const seconds = z.number().nonnegative();

const costsSchema = z
  .strictObject({
    reading_seconds: seconds.describe('From the start of the command until the models were read'),
    preparing_seconds: seconds.describe('Optimizing the graphs in the runtime, and cutting them'),
    bricks_first_seconds: seconds.describe("Each brick's first measurement"),
    bricks_again_seconds: seconds.describe('Their further measurements, which set the intervals'),
    models_first_seconds: seconds.describe("Each whole model's first measurement"),
    models_again_seconds: seconds.describe('Its repetition'),
    known_seconds: seconds.describe(
      'Part of these for measurements that the store had already, by their recorded cost',
    ),
  })
  .describe('Wall time, with building, filling, sessions, warm-ups, waiting and disturbed measurements');

/** null where a model or a brick has no latency. */
const ratiosSchema = z.strictObject({
  paper: z
    .number()
    .nullable()
    .describe("One run of every model over one run of every unique brick: the DLBricks paper's figure"),
  measured: z
    .number()
    .nullable()
    .describe(
      'reading + models_first over reading + preparing + bricks_first: the cost of measuring each model once over the cost of measuring each brick once',
    ),
  as_run: z
    .number()
    .nullable()
    .describe('The same with every further measurement on both sides: the cost of this evaluation as it ran'),
});

const summarySchema = z.strictObject({
  models: z.int(),
  layers: z.int(),
  unique: z.int().describe('Different bricks of all models together'),
  sequences: z.int().describe('Sequences of all models together'),
  unique_fraction: z.number().nullable().describe('unique / sequences of all models'),
  geomean_normalized_latency: z.number().nullable(),
  mape_percent: z.number().nullable().describe('Mean over the models of |normalized_latency - 1|, in percent'),
  worst_percent: z.number().nullable(),
  within_5_percent: z.int().describe('Models whose estimate is within 5 % of their end-to-end latency'),
  within_10_percent: z.int(),
  interval_hit_percent: z
    .number()
    .nullable()
    .describe(
      'Share of the models with an interval whose end_to_end_ms lies within it; settings.confidence is what it should be',
    ),
  spread_percent: z
    .number()
    .nullable()
    .describe('Standard deviation between occasions of measuring one brick: how well this machine repeats itself'),
  costs: costsSchema.nullable().describe('null where nothing was measured, as by compose'),
  ratios: ratiosSchema,
  repeatability_percent: z
    .number()
    .nullable()
    .describe('Mean difference between the two end-to-end measurements: the floor under every accuracy figure'),
});

const warningSchema = z.strictObject({
  cause: z.enum(['steal', 'shared_core', 'other_load', 'quota', 'frequency', 'threads', 'spread', 'kernels']),
  message: z.string(),
});

/** The document that `--export-json` writes. The JSON Schema in docs/ is made from it. */
export const reportSchema = z.strictObject({
  evaluation: z
    .string()
    .nullable()
    .default(null)
    .describe('Name of the evaluation, as its manifest has it; null for models that a command line named'),
  system: systemSchema,
  settings: settingsSchema,
  models: z.array(modelSchema),
  summary: summarySchema,
  warnings: z
    .array(warningSchema)
    .describe(
      'Causes of noise during the measurements, each with its remedy; and models whose kernels are not those of their files',
    ),
});

/** The document of a command that ran several evaluations, or one for several sizes of the batch or numbers of threads. */
export const reportsSchema = z.strictObject({ reports: z.array(reportSchema) });

export type Report = z.infer<typeof reportSchema>;
export type ModelReport = Report['models'][number];

/** The part of an evaluation's setup that its report shows. */
export interface ReportSettings {
  /** Name of its manifest; undefined where it has none. */
  readonly evaluation?: string | undefined;
  readonly cut: Cut;
  readonly granularity: number;
  readonly batch: number;
  readonly protocol: Protocol;
  /** Relative; undefined where bricks are not measured again. */
  readonly targetError?: number | undefined;
}

/** null where it is not known or not finite: stored values can be too large to add. */
function finite(value: number | undefined): number | null {
  return value !== undefined && Number.isFinite(value) ? value : null;
}

/** null where it would be infinite, or no number. */
function ratio(dividend: number | null, divisor: number | null): number | null {
  return dividend === null || divisor === null ? null : finite(dividend / divisor);
}

function latencyOf(measurement: Measurement | undefined): number | null {
  return measurement?.outcome.kind === 'samples' ? trimmedMean(measurement.outcome.runMs) : null;
}

function percentOf(share: number | undefined): number | null {
  return share === undefined ? null : finite(share * 100);
}

function bricksOf({ parts }: ModelResult['estimate']): ModelReport['bricks'] {
  return parts.map(({ signature, operators, count, measured, ms: latencyMs, occasions, runs }) => ({
    signature,
    operators: [...operators],
    sequences: count,
    measured: measured.way,
    copies: measured.way === 'copies' ? measured.copies : null,
    latency_ms: latencyMs ?? null,
    occasions,
    runs,
  }));
}

function isWithin(value: number | null, interval: Interval | undefined): boolean | null {
  if (value === null || interval?.lowMs === undefined || interval.highMs === undefined) return null;
  return interval.lowMs <= value && value <= interval.highMs;
}

function differencesOf({ kernelCheck }: ModelResult): ModelReport['kernel_differences'] {
  if (kernelCheck?.kind !== 'compared') return null;
  return kernelCheck.differences.map(({ operator, ofFile, madeUp }) => ({
    operator,
    of_file: ofFile,
    made_up: madeUp,
  }));
}

function modelReport(result: ModelResult, cut: Cut): ModelReport {
  const { estimate, endToEnd, limitedBy, kernels } = result;
  const end = (interval: Interval | undefined, bound: keyof Interval): number | null => finite(interval?.[bound]);
  const endToEndMs = latencyOf(endToEnd?.first);
  const estimateMs = end(estimate.sequential, 'ms');
  return {
    name: estimate.name,
    cut,
    layers: estimate.layers,
    kernels: kernels ?? null,
    kernel_differences: differencesOf(result),
    unique_bricks: estimate.uniqueBricks,
    coverage: estimate.coverage,
    estimate_ms: estimateMs,
    estimate_low_ms: end(estimate.sequential, 'lowMs'),
    estimate_high_ms: end(estimate.sequential, 'highMs'),
    parallel_ms: end(estimate.parallel, 'ms'),
    parallelism: ratio(estimateMs, end(estimate.parallel, 'ms')),
    longest_path: [...estimate.longestPath],
    end_to_end_ms: endToEndMs,
    end_to_end_repeat_ms: latencyOf(endToEnd?.repeat),
    normalized_latency: estimate.coverage === 1 ? ratio(estimateMs, endToEndMs) : null,
    interval_hit: estimate.coverage === 1 ? isWithin(endToEndMs, estimate.sequential) : null,
    measuring_error_percent: percentOf(estimate.measuringError),
    limited_by: limitedBy ?? null,
    bricks: bricksOf(estimate),
    missing: [
      ...estimate.missing.map(({ signature, operators, shapes, count, reason }) => {
        const brick = { benchmark: 'brick' as const, signature, operators: [...operators], shapes: [...shapes] };
        return { ...brick, sequences: count, reason };
      }),
      ...missingEndToEnd(endToEnd),
    ],
  };
}

function missingEndToEnd(endToEnd: ModelResult['endToEnd']): ModelReport['missing'] {
  if (endToEnd === undefined) return [];
  const { first, repeat, signature } = endToEnd;
  const missing = { benchmark: 'end_to_end' as const, signature, operators: [], shapes: [], sequences: 0 };
  // What fails once is not repeated.
  const wanted = first?.outcome.kind === 'failure' ? [first] : [first, repeat];
  return wanted.flatMap((measurement) => {
    if (measurement === undefined) return [{ ...missing, reason: 'interrupted before it was measured' }];
    const { outcome } = measurement;
    return outcome.kind === 'samples' ? [] : [{ ...missing, reason: `${outcome.reason}: ${outcome.message}` }];
  });
}

/** The measurements of each whole model, one or two. A model that is listed twice was measured once. */
function wholesOf({ models }: EstimateResult): readonly Measurement[] {
  const wholes = [...new Map(models.map(({ endToEnd }) => [endToEnd?.signature, endToEnd])).values()];
  return wholes.flatMap((endToEnd) => [endToEnd?.first, endToEnd?.repeat].filter((taken) => taken !== undefined));
}

function allMs({ nowMs, beforeMs }: PhaseCost): number {
  return nowMs + beforeMs;
}

function costsOf(costs: Costs | undefined): Report['summary']['costs'] {
  if (costs === undefined) return null;
  const { readingMs, preparingMs, bricksFirst, bricksAgain, modelsFirst, modelsAgain } = costs;
  const phases = [bricksFirst, bricksAgain, modelsFirst, modelsAgain];
  return {
    reading_seconds: readingMs / 1000,
    preparing_seconds: preparingMs / 1000,
    bricks_first_seconds: allMs(bricksFirst) / 1000,
    bricks_again_seconds: allMs(bricksAgain) / 1000,
    models_first_seconds: allMs(modelsFirst) / 1000,
    models_again_seconds: allMs(modelsAgain) / 1000,
    known_seconds: phases.reduce((sum, { beforeMs }) => sum + beforeMs, 0) / 1000,
  };
}

/** One run of each different model, and of each different brick; ms. */
function oneRunOfEach({ models }: EstimateResult, reports: readonly ModelReport[]): { models: number; bricks: number } {
  const wholes = new Map(
    models.map(({ endToEnd }, index) => [endToEnd?.signature, reports[index]?.end_to_end_ms ?? 0]),
  );
  const bricks = new Map(
    models.flatMap(({ estimate }) => estimate.parts).map(({ benchmark, ms }) => [benchmark, ms ?? 0]),
  );
  const sum = (values: Iterable<number>): number => [...values].reduce((total, value) => total + value, 0);
  return { models: sum(wholes.values()), bricks: sum(bricks.values()) };
}

/** The savings by bricks, counted in three ways; see docs/measuring.md. */
function ratiosOf(result: EstimateResult, models: readonly ModelReport[]): Report['summary']['ratios'] {
  const costs = costsOf(result.costs);
  const isComplete = models.every(({ coverage, end_to_end_ms: first }) => coverage === 1 && first !== null);
  if (costs === null || !isComplete || models.length === 0) return { paper: null, measured: null, as_run: null };
  const runs = oneRunOfEach(result, models);
  const { reading_seconds: reading, preparing_seconds: preparing } = costs;
  const wholes = reading + costs.models_first_seconds;
  const bricks = reading + preparing + costs.bricks_first_seconds;
  const isRepeated = models.every(({ end_to_end_repeat_ms: repeat }) => repeat !== null);
  return {
    paper: ratio(runs.models, runs.bricks),
    measured: ratio(wholes, bricks),
    as_run: isRepeated ? ratio(wholes + costs.models_again_seconds, bricks + costs.bricks_again_seconds) : null,
  };
}

function summaryOf(result: EstimateResult, models: readonly ModelReport[]): Report['summary'] {
  const normalized = models.flatMap(({ normalized_latency: value }) => (value === null ? [] : [value]));
  const repeatability = models.flatMap(({ end_to_end_ms: first, end_to_end_repeat_ms: repeat }) => {
    const share = ratio(repeat, first);
    return share === null ? [] : [Math.abs(share - 1) * 100];
  });
  const hits = models.flatMap(({ interval_hit: hit }) => (hit === null ? [] : [Number(hit)]));
  return {
    models: models.length,
    layers: models.reduce((sum, { layers }) => sum + layers, 0),
    unique: result.uniqueBricks,
    sequences: result.sequences,
    unique_fraction: ratio(result.uniqueBricks, result.sequences),
    ...accuracyOf(normalized),
    interval_hit_percent: percentOf(meanOf(hits)),
    spread_percent: percentOf(result.spread?.relative),
    costs: costsOf(result.costs),
    ratios: ratiosOf(result, models),
    repeatability_percent: meanOf(repeatability) ?? null,
  };
}

/** Models whose bricks are not kernels of their files. */
function otherGraphs({ models }: EstimateResult): Report['warnings'] {
  return models.flatMap(({ estimate, kernelCheck }) => {
    const message = kernelWarning(estimate.name, kernelCheck);
    return message === undefined ? [] : [{ cause: 'kernels' as const, message }];
  });
}

/** The result of an evaluation as the document that is exported and shown. */
export function reportOf(
  result: EstimateResult,
  { evaluation, cut, granularity, batch, protocol, targetError }: ReportSettings,
): Report {
  const { system } = result;
  const models = result.models.map((model) => modelReport(model, cut));
  const noise = noiseWarnings({
    measurements: [...result.bricks, ...wholesOf(result)],
    spread: result.spread?.relative,
    threads: system.runOptions.threads,
    cores: system.cores,
  });
  return {
    evaluation: evaluation ?? null,
    system: {
      fingerprint: system.fingerprint,
      processor: system.processor,
      architecture: system.architecture,
      operating_system: system.operatingSystem,
      cores: system.cores,
      memory_bytes: system.memoryBytes,
      processor_features: [...system.processorFeatures],
      framework: system.framework,
      framework_version: system.frameworkVersion,
      threads: system.runOptions.threads,
      execution_provider: system.runOptions.executionProvider,
      optimization_level: system.runOptions.optimizationLevel,
    },
    settings: {
      cut,
      granularity,
      batch,
      warmup_runs: protocol.warmupRuns,
      runs: protocol.runs,
      min_runs: protocol.minRuns,
      time_budget_ms: protocol.timeBudgetMs,
      target_error_percent: percentOf(targetError),
      statistic: `trimmed mean (${TRIM})`,
      confidence: CONFIDENCE,
    },
    models,
    summary: summaryOf(result, models),
    warnings: [...otherGraphs(result), ...noise].map((warning) => ({ ...warning })),
  };
}
