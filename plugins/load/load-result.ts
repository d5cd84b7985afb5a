import { DISPATCHES, provenanceField, systemDocumentSchema, z } from '../../src/plugin-api.js';
import { SCENARIOS } from './settings.js';

const number = z.number().nullable();
const ms = number;
const rate = z.number().nonnegative().nullable();

const percentiles = {
  p50_ms: ms.describe('Latency from the scheduled time; the value at index ceil(n p) - 1 of the sorted ones'),
  p90_ms: ms,
  p95_ms: ms,
  p99_ms: ms,
  p999_ms: ms.describe('null below the number of queries that early stopping asks for, as all percentiles'),
} as const;

const measuredSchema = z.strictObject({
  queries: z.int().describe('Queries that were answered or failed'),
  planned: z.int().describe('Queries of the schedule; of a closed loop, those that were sent'),
  failed: z.int().describe('With one of them, there are no percentiles'),
  failure: z.string().nullable().default(null).describe('Error of the first query that failed'),
  achieved_per_second: rate.describe('Answered queries less one, over the time from the first to the last answer'),
  samples_per_second: rate.describe('null where its figures are no result'),
  mean_batch: number.describe('Samples of a run'),
  utilization: number.describe(
    'Share of the time from the first to the last answer in which the model runs, for each agent',
  ),
  wait_mean_ms: ms.describe("From the scheduled time until the model's run began"),
  service_mean_ms: ms.describe('Of one run'),
  service_variation: number.describe('Standard deviation of the service time over its mean'),
  latency_mean_ms: ms,
  ...percentiles,
  upper_p50_ms: ms.describe('Upper estimates of a closed loop by early stopping; null for schedules'),
  upper_p90_ms: ms,
  upper_p99_ms: ms,
  largest_ms: ms,
  over_share: number.describe('Share of the queries over the bound, failed ones included'),
  longest_queue: z.int(),
  lateness_p99_ms: ms.describe("The generator's own: sent - scheduled"),
  clock_drift_ms: ms
    .default(null)
    .describe("How far an agent's clock moved against the generator's during the trial; 0 where they are one clock"),
  little_error: number.describe(
    "Little's law: mean number in the system, as the generator counts queries and answers, over rate times latency, less 1",
  ),
  steal_share: number.describe('Processor time that other machines took; null where it is not known'),
  others_share: number.default(null).describe('Processor time that other processes of the machine took'),
  holds: z
    .boolean()
    .nullable()
    .describe('Whether the bound holds, by early stopping with 99 % confidence; null where too few queries show it'),
  ended: z.enum(['complete', 'cut', 'failed', 'cancelled']),
  reason: z.string().nullable().describe('Why it ended early'),
  invalid: z.string().nullable().describe('Why its figures are no result'),
});

const figuresSchema = z.strictObject({ ...percentiles, samples_per_second: rate, holds: z.boolean().nullable() });

const predictedSchema = z.strictObject({
  low: figuresSchema
    .nullable()
    .describe("Lower ends of the figures' 95 % intervals; null where the estimate has no interval"),
  value: figuresSchema.nullable().describe('Medians of simulations with times from the whole interval of the estimate'),
  high: figuresSchema.nullable(),
  service_ms: ms.describe('Of a run of one query under this load: the estimate, slowed down'),
  slowdown: number.describe('Factor of the estimate'),
  service_low_ms: ms,
  service_high_ms: ms,
  service_variation: number.describe(
    'Standard deviation over mean of the runs in the simulated queue; null: every run takes the estimate',
  ),
  utilization: number,
  growth: number.describe('Relative change of the mean wait for one of the service time: (2 - rho) / (1 - rho)'),
  reason: z.string().nullable().describe('Why there is no prediction, or why it has no percentiles'),
});

const rowSchema = z.strictObject({
  model: z.string(),
  samples: z.array(z.int()).describe('Samples of a query'),
  batch_limit: z.int().describe('Most samples of one run'),
  clients: z.int().nullable(),
  offered_per_second: rate.describe('Of the schedule; null for closed loops'),
  seed: z.int(),
  measured: measuredSchema.nullable(),
  predicted: predictedSchema.nullable(),
});

const searchSchema = z.strictObject({
  passed_per_second: rate.describe('The largest rate that passed, also with three further seeds'),
  failed_per_second: rate.describe('The smallest rate above it that failed'),
  chance_percent: number
    .default(null)
    .describe(
      '95 % of searches with other schedules find a rate that differs by less, by simulations with the runs of the trials; null for batches, and where no server says when runs begin',
    ),
  trials: z.int(),
  stopped: z.string().nullable().describe('Why the search ended early'),
});

const rateSchema = z.strictObject({
  model: z.string(),
  batch_limit: z.int(),
  measured: z.array(searchSchema).describe('One for each search, each in processes of its own'),
  predicted: z
    .strictObject({
      low_per_second: rate.describe('Of 95 % of the simulated searches'),
      value_per_second: rate.describe('Their median'),
      high_per_second: rate,
      reason: z.string().nullable(),
    })
    .nullable(),
});

const curveSchema = z
  .strictObject({
    best_batch: z.int().nullable().describe('The smallest whose doubling raises throughput by at most 5 %'),
    largest_batch: z.int().describe('The batch with the largest throughput'),
    largest_samples_per_second: z.number(),
    low_samples_per_second: rate.describe("The same with the upper ends of the estimates' intervals"),
    high_samples_per_second: rate,
    a_ms: ms.describe('T(B) = a + b B by least squares'),
    a_low_ms: ms.describe('95 % intervals, from the scatter around the line and the intervals of estimates'),
    a_high_ms: ms.describe('null for fewer than three sizes, as all ends'),
    b_ms: ms,
    b_low_ms: ms,
    b_high_ms: ms,
    largest_residual_ms: ms,
  })
  .nullable();

const intervalSchema = z.strictObject({ low: ms, value: ms, high: ms });

const generationSchema = z.strictObject({
  model: z.string().describe('A decoder'),
  prompt: z.int().describe('Tokens of the prompt'),
  tokens: z.int().describe('Tokens that are generated'),
  offered_per_second: rate.describe('Texts per second'),
  service_ms: ms.describe('Of a whole text'),
  further_token_ms: ms.describe('Mean time of a further token, which load does not change: one text is made at a time'),
  utilization: number,
  first_token_p50_ms: intervalSchema.describe('From the scheduled time to the first token'),
  first_token_p99_ms: intervalSchema,
  reason: z.string().nullable().describe('Why there is no prediction'),
});

const overheadSchema = z.strictObject({
  model: z.string(),
  weight_bytes: z.number().describe('Of the model'),
  run_ms: z.number().describe('Of an undisturbed run of the stand-in'),
  handover_ms: z.number().describe('From the scheduled time until a run begins that waits for no other'),
  return_ms: ms.describe(
    'From the end of a run until its client can send the next query; null where clients do not wait',
  ),
  between_ms: z.number().describe('From the end of a run until the next one begins'),
  pauses: z
    .array(
      z.strictObject({
        pause_ms: z.number(),
        slowdown: z.number().describe('Mean time of a run after such a pause over that of an undisturbed one'),
        variation: z.number().describe('Standard deviation over mean'),
      }),
    )
    .describe('Runs after pauses of about these lengths'),
});

export const loadResultSchema = z.strictObject({
  provenance: provenanceField,
  system: systemDocumentSchema,
  agents: z.int(),
  settings: z.strictObject({
    scenario: z.enum(SCENARIOS),
    bound: z.string().nullable(),
    think_ms: z.number(),
    max_wait_ms: z.number(),
    least_ms: z.number(),
    dispatch: z.enum(DISPATCHES),
    seed: z.int(),
    deployment: z.string().nullable().default(null).describe('The server that answered instead of an agent'),
  }),
  overheads: z
    .array(overheadSchema)
    .describe('What predictions add to estimates, measured with a stand-in of each model'),
  rows: z.array(rowSchema),
  rates: z.array(rateSchema).describe('Largest rates within the bound'),
  batches: z.array(z.strictObject({ model: z.string(), measured: curveSchema, predicted: curveSchema })),
  generations: z.array(generationSchema).default([]).describe('Texts of decoders under load, predicted'),
  unusable: z.array(z.strictObject({ model: z.string(), reason: z.string() })),
  warnings: z.array(z.string()),
});

export type LoadResult = z.infer<typeof loadResultSchema>;
export type GenerationRow = LoadResult['generations'][number];
export type LoadRow = LoadResult['rows'][number];
export type MeasuredLoad = z.infer<typeof measuredSchema>;
export type PredictedLoad = z.infer<typeof predictedSchema>;
export type Figures = z.infer<typeof figuresSchema>;
export type SearchedRate = LoadResult['rates'][number];
export type Overhead = z.infer<typeof overheadSchema>;

/** What one model adds to a result. */
export interface ModelLoad {
  readonly rows: readonly LoadRow[];
  readonly overhead?: readonly Overhead[] | undefined;
  readonly rate?: SearchedRate;
  readonly batches?: LoadResult['batches'][number];
}

export function isPartial({ rows, rates, generations, unusable }: LoadResult): boolean {
  const isBad = ({ measured, predicted }: LoadRow): boolean => {
    const isShort = measured !== null && (measured.invalid !== null || measured.failed > 0);
    return isShort || (predicted !== null && predicted.value === null);
  };
  const isUnknown = rates.some(({ measured, predicted }) => {
    return (
      measured.some(({ passed_per_second: passed }) => passed === null) ||
      (predicted !== null && predicted.reason !== null)
    );
  });
  const isShort = generations.some(({ reason }) => reason !== null);
  return isShort || unusable.length > 0 || isUnknown || rows.some(isBad);
}
