import { provenanceField, systemDocumentSchema, z } from '../../../src/plugin-api.js';

/** null: not known. Times are in ms. A missing measurement is never replaced by a guess or by zero. */
const ms = z.number().nonnegative().nullable();
const number = z.number().nullable();

function orNull<Schema extends z.ZodType>(schema: Schema, description: string) {
  return schema.nullable().describe(description);
}

/** A field that reports of earlier versions lack. */
function added<Schema extends z.ZodType>(schema: Schema, description: string) {
  return schema
    .nullable()
    .default(null as never)
    .describe(description);
}

const settingsSchema = z.strictObject({
  cut: z.enum(['kernel', 'layer']).describe('Where graphs were cut'),
  granularity: z.int().describe('Longest brick, in kernels or layers'),
  keep_dynamic: z
    .boolean()
    .default(false)
    .describe('Whether dimensions that files leave open stayed open while whole graphs were optimized and run'),
  batch: z.int(),
  warmup_runs: z.int(),
  runs: z.int().describe('Maximum number of timed runs per benchmark'),
  min_runs: z.int(),
  time_budget_ms: z.number().describe('No further run starts after this much time in runs, once min_runs are done'),
  target_error_percent: number.describe(
    'Bricks are measured on further occasions until half the width of each interval is within this; null where bricks are not repeated, as at the layer cut or by compose',
  ),
  statistic: z.string(),
  confidence: z.number().describe('Share of cases in which intervals should contain the latency'),
});

const missingSchema = z.strictObject({
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
  on_longest_path: added(z.int(), 'How many of these are on the longest path; null in reports of earlier versions'),
  measured: z
    .enum(['together', 'copies', 'alone'])
    .describe("How: with other bricks in one graph by the runtime's profile, as copies in one graph, or on its own"),
  copies: orNull(z.int(), 'Copies in one graph that stand for it; null where it was not measured as copies'),
  latency_ms: ms.describe('Of one sequence'),
  is_predicted: z
    .boolean()
    .default(false)
    .describe('Whether latency_ms was not measured, but predicted from measured bricks of the same operator'),
  occasions: z.int().describe('Number of measurements, each in a process of its own'),
  runs: z.int().describe('Timed runs of all occasions together'),
});

const checkSchema = z.strictObject({
  graph_ms: ms.describe('Time of the whole optimized graph, with made-up weights and without the profile'),
  kernels_ms: ms.describe('Sum of its kernels, without the cost of the profile'),
  bricks_ms: ms.describe('The same kernels by their bricks'),
  bricks: z
    .array(
      z.strictObject({
        signature: z.string(),
        operators: z.array(z.string()),
        shapes: z.array(z.string()),
        kernel: z.string().describe('Name of its longest kernel in the optimized graph'),
        sequences: z.int(),
        kernels_ms: ms.describe('Its sequences in the whole graph'),
        bricks_ms: ms.describe('The same by the brick'),
        is_outside: orNull(
          z.boolean(),
          "Whether kernels_ms is outside of the brick's interval; null where it has none",
        ),
      }),
    )
    .describe('The largest differences first'),
  seconds: ms.describe('Wall time of the run, with its sessions'),
  failure: z.string().nullable().describe('Why there is no comparison; null where there is one'),
});

export const modelReportSchema = z.strictObject({
  name: z.string(),
  cut: z.enum(['kernel', 'layer']).describe('Where its graph was cut'),
  layers: z.int(),
  kernels: z.int().nullable().describe("Kernels of the runtime's optimized graph; null at the layer cut"),
  kernel_differences: orNull(
    z.array(
      z.strictObject({
        operator: z.string(),
        of_file: z.int().describe("Kernels with the file's own weights"),
        made_up: z.int().describe('Kernels with made-up weights, which are estimated'),
      }),
    ),
    'Operators whose numbers of kernels differ between the optimized graphs with the weights of the file and with made-up weights; null where that was not checked',
  ),
  check: added(
    checkSchema,
    'Comparison of the bricks with one run of the whole graph; null where it was not asked for',
  ),
  assumed_inputs: z
    .array(z.strictObject({ name: z.string(), values: z.string() }))
    .default([])
    .describe('Inputs whose values were made up though they may decide what is computed'),
  dimensions: z
    .array(z.strictObject({ name: z.string(), size: z.int() }))
    .default([])
    .describe('Dimensions of inputs that the file leaves open, and their sizes here'),
  throughput_per_second: added(
    z.number(),
    'Inputs per second: settings.batch over estimate_ms; null without an estimate of the whole model',
  ),
  tokens_per_second: added(
    z.number(),
    'Of decoders with a cache, from the estimate; null for other models, and without an estimate of the whole model',
  ),
  extended: added(
    z.strictObject({
      blocks: z.int().describe('Repeated blocks of the model'),
      layers_of_block: z.int(),
      optimized_with: z.array(z.int()).describe('Numbers of blocks of the graphs that the runtime optimized'),
      weight_bytes: z.number().describe("Of the whole model's weights"),
      optimized_weight_bytes: z.number().describe("Of the largest optimized graph's weights"),
    }),
    'From which graphs the kernels were extended to all blocks; null where the whole graph was optimized',
  ),
  not_extended: added(
    z.string(),
    'Why the whole graph was optimized although blocks of it repeat; null where they do not, or were extended',
  ),
  made_up_values: added(
    z.strictObject({
      operators: z
        .array(z.strictObject({ operator: z.string(), count: z.int() }))
        .describe('The operators that read such values, with their numbers of kernels or layers'),
      kernels: z.int().describe('These kernels or layers, and all after them whose sizes follow from theirs'),
    }),
    'The part of the model whose work or sizes depend on made-up values, so that the estimate may be far off; null where there is none',
  ),
  values_of_run: added(
    z.enum(['own', 'made up']),
    'Weights of the run whose values steer operators in bricks; null where these values are made up',
  ),
  unique_bricks: z.int(),
  predicted_percent: z
    .number()
    .min(0)
    .max(100)
    .default(0)
    .describe('Part of estimate_ms that was not measured, but predicted from measured bricks of the same operators'),
  coverage: z
    .number()
    .min(0)
    .max(1)
    .describe('Share of the sequences that were measured, and whose work and sizes depend on no made-up values'),
  estimate_ms: ms.describe('Latency constructed from bricks: the sum over all measured sequences'),
  estimate_low_ms: ms.describe(
    'Lower end of the interval. Kernel cut: the interval should contain the mean of two measurements of the whole model in other processes, with the stated confidence; layer cut: it covers only the error of the mean of these runs. With made_up_values: of the other sequences alone',
  ),
  estimate_high_ms: ms.describe('Upper end of the interval; null with made_up_values'),
  parallel_ms: ms.describe('Longest path through the sequences: the latency without any limit to parallelism'),
  parallelism: number.describe(
    'estimate_ms / parallel_ms: how much faster it could be with sequences side by side; 1 is a chain',
  ),
  longest_path: z.array(z.int()).describe('Indices of the sequences on it, in their order'),
  critical_path: z
    .array(
      z.strictObject({
        sequence: z.int(),
        kernels: orNull(
          z.array(z.string()),
          'Names of its kernels or layers; null where only graphs with fewer blocks were optimized, and for recipes, which have no names',
        ),
        operators: z.array(z.string()),
        latency_ms: ms,
        is_predicted: z.boolean(),
      }),
    )
    .default([])
    .describe('The same sequences, by their kernels; empty in reports of earlier versions'),
  end_to_end_ms: ms.describe('Whole model as measured: the mean of its first measurement and its repeat'),
  graph_signature: added(
    z.string(),
    "Signature of the model's graph without its name; models with the same one differ in their weights only",
  ),
  preparing_seconds: added(
    z.number().nonnegative(),
    "Wall time of optimizing the model's graph in the runtime, and of cutting it",
  ),
  end_to_end_seconds: added(
    z.number().nonnegative(),
    "Wall time of the whole model's first measurement, session and warm-ups included",
  ),
  end_to_end_first_ms: added(z.number().nonnegative(), 'As measured after the first measurement of each brick'),
  end_to_end_repeat_ms: ms.describe('Whole model as measured again, after everything else'),
  normalized_latency: number.describe('estimate_ms / end_to_end_ms; null where a sequence was not measured'),
  interval_hit: orNull(
    z.boolean(),
    'Whether end_to_end_ms lies within the interval; null where one of them is not known, or a sequence was not measured',
  ),
  measuring_error_percent: number.describe(
    'Half width of an interval with only the error of measuring bricks, which more occasions reduce; with few degrees of freedom, it may be wider than the interval',
  ),
  least_error_percent: added(
    z.number(),
    'Half width of the interval if bricks were measured exactly: the spread of whole models, and the method',
  ),
  limited_by: orNull(
    z.enum(['target_error', 'occasions', 'whole_model', 'time']),
    'Why its bricks were not measured on more occasions: precise enough, limit of occasions, as precise as whole models repeat, or time limit',
  ),
  bricks: z.array(brickSchema).describe('The bricks of the estimate'),
  repeated_blocks: z
    .array(
      z.strictObject({
        count: z.int().describe('How often it comes, one after the other'),
        bricks: z.array(z.strictObject({ signature: z.string(), sequences: z.int().describe('In one block') })),
      }),
    )
    .default([])
    .describe(
      'Consecutive sequences that the model repeats; empty where nothing repeats, and in reports of earlier versions',
    ),
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
    models_again_seconds: seconds.describe("Each whole model's second measurement"),
    delay_seconds: seconds
      .default(0)
      .describe(
        'Waiting for other processes that measure on the same machine, and taking measurements again that other processes disturbed; in none of the ratios',
      ),
    check_seconds: seconds
      .default(0)
      .describe('Running whole optimized graphs to check their bricks; in none of the ratios'),
    known_seconds: seconds.describe(
      'Part of these for measurements that the store had already, by their recorded cost',
    ),
  })
  .describe('Wall time, with building, filling, sessions, warm-ups and dropped runs');

/** null where a model or a brick has no latency. */
const ratiosSchema = z.strictObject({
  paper: number.describe("One run of every model over one run of every unique brick: the DLBricks paper's figure"),
  measured: number.describe(
    'reading + models_first over reading + preparing + bricks_first: the cost of measuring each model once over the cost of measuring each brick once',
  ),
  as_run: number.describe(
    'The same with every further measurement on both sides: the cost of this evaluation as it ran',
  ),
});

const intervalScoresSchema = z.array(
  z.strictObject({
    level: z.number().describe('Share of intervals that should hold'),
    models: z.int().describe('Models with an interval and a measured latency'),
    hit_percent: z.number().describe('Share of intervals that hold the measured latency'),
    half_width_percent: z.number().describe('Mean of half the width, relative to the estimate'),
    score_percent: z
      .number()
      .describe('Mean interval score (Gneiting and Raftery, 2007), relative to the measured latency; less is better'),
  }),
);

const summarySchema = z.strictObject({
  models: z.int(),
  layers: z.int(),
  unique: z.int().describe('Different bricks of all models together'),
  sequences: z.int().describe('Sequences of all models together'),
  bricks_ms: added(z.number().nonnegative(), 'One run of every different brick that was measured'),
  unique_fraction: number.describe('unique / sequences of all models'),
  geomean_normalized_latency: number,
  mape_percent: number.describe('Mean over the models of |normalized_latency - 1|, in percent'),
  worst_percent: number,
  within_5_percent: z.int().describe('Models whose estimate is within 5 % of their end-to-end latency'),
  within_10_percent: z.int(),
  interval_hit_percent: number.describe(
    'Share of the models with an interval whose end_to_end_ms lies within it; it should be settings.confidence',
  ),
  intervals: intervalScoresSchema
    .default([])
    .describe('How good the intervals are; empty where no model was measured whole'),
  cross_checked_intervals: intervalScoresSchema
    .default([])
    .describe('The same with spreads that come from the other half of the models alone; from four models on'),
  spread_percent: number.describe(
    'Standard deviation between occasions of measuring one brick: the repeatability of this machine',
  ),
  common_spread_percent: added(z.number(), 'The part of it that all bricks of a process have in common'),
  whole_spread_percent: added(
    z.number(),
    'Standard deviation between occasions of measuring one whole model; intervals contain it',
  ),
  no_interval_reason: added(
    z.string(),
    'Why the spread between occasions is not known, so that estimates have no intervals; kernel cut only',
  ),
  machines: added(
    z.int(),
    'Machines with this fingerprint that were compared and shared the measurements; null for one',
  ),
  machine_spread_percent: added(
    z.number(),
    'Standard deviation between these machines of the time of the same bricks; intervals contain it',
  ),
  costs: costsSchema.nullable().describe('null where nothing was measured, as by compose'),
  ratios: ratiosSchema,
  repeatability_percent: number.describe(
    'Mean difference between the two end-to-end measurements; no estimate can be more accurate',
  ),
});

const generationSchema = z.strictObject({
  model: z.string().describe('Name of the decoder: the name of its two models, without prefill and decode'),
  prompt: z.int().describe('Tokens of the prompt'),
  tokens: z.int().describe('Tokens that are generated; the run for the prompt generates the first one'),
  first_token_ms: ms.describe('From the prompt to the first token, constructed'),
  first_token_low_ms: ms,
  first_token_high_ms: ms,
  first_token_measured_ms: ms.describe('The same by the whole model'),
  further_tokens_ms: ms.describe('Sum over all further tokens, each with a longer cache, constructed'),
  further_tokens_low_ms: ms,
  further_tokens_high_ms: ms,
  further_tokens_measured_ms: ms.describe('The same by whole models'),
  cache_lengths: z
    .array(z.int())
    .describe('Lengths of the cache that were estimated; between them, latency is interpolated linearly'),
});

const warningSchema = z.strictObject({
  cause: z.enum([
    'steal',
    'shared_core',
    'other_load',
    'quota',
    'frequency',
    'threads',
    'spread',
    'page_faults',
    'kernels',
    'values',
    'loops',
    'short_kernels',
    'settings',
  ]),
  message: z.string(),
});

export const reportSchema = z.strictObject({
  evaluation: added(
    z.string(),
    'Name of the evaluation, as its manifest has it; null for models that a command line named',
  ),
  provenance: provenanceField,
  system: systemDocumentSchema,
  settings: settingsSchema,
  models: z.array(modelReportSchema),
  generations: z
    .array(generationSchema)
    .default([])
    .describe('Generation of tokens by decoders, where the evaluation asks for it (settings.generation)'),
  summary: summarySchema,
  warnings: z
    .array(warningSchema)
    .describe(
      'Causes of noise during the measurements, each with its remedy; models whose kernels are not those with the weights of their files; models whose work or sizes depend on made-up values; models with loops at the layer cut; and settings that change nothing, or that estimates leave out',
    ),
});

/** The document of a command that ran several evaluations, or one for several sizes of the batch or numbers of threads. */
export const reportsSchema = z.strictObject({ reports: z.array(reportSchema) });

export type Report = z.infer<typeof reportSchema>;
export type ModelReport = Report['models'][number];
