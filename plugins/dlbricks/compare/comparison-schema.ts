import { provenanceField, z } from '../../../src/plugin-api.js';

export const FORMAT = 'dlbricks-comparison/1';

export const VERDICTS = ['faster', 'slower', 'no difference seen'] as const;

export type Verdict = (typeof VERDICTS)[number];

const known = z.number().nullable();

const ratioSchema = {
  ratio: known.describe('Time after over time before'),
  ratio_low: known.describe(
    'Lower end of its interval; the intervals of a table contain all ratios at once with 95 % probability',
  ),
  ratio_high: known,
  verdict: z.enum(VERDICTS).nullable().describe('null where the interval is not known'),
};

const rowSchema = z.strictObject({
  model: z.string(),
  batch: z.int(),
  threads_before: z.int(),
  threads_after: z.int(),
  before_ms: known.describe('Estimate'),
  after_ms: known,
  ...ratioSchema,
  seen_from_percent: known.describe('The smallest difference that would have been seen'),
  measured_ratio: known.describe('The same ratio of the whole models as measured; null where one was not measured'),
  measured_ratio_low: known.default(null).describe('null where the interval is not known'),
  measured_ratio_high: known.default(null),
  reason: z.string().nullable().describe('Why the two are not compared; null where they are'),
  no_verdict: z
    .string()
    .nullable()
    .default(null)
    .describe('Why the two are compared without a verdict, and the remedy'),
  dimensions: z
    .string()
    .default('')
    .describe('Sizes of dimensions that the file leaves open, as in seq=128; empty for none'),
  settings: z.string().default('').describe('Of the runtime and of the cut, on the first side'),
  label: z
    .string()
    .default('')
    .describe('The model, and what tells its rows apart where it has several: batch, dimensions, threads, settings'),
});

export const comparisonSchema = z.strictObject({
  format: z.literal(FORMAT),
  provenance: provenanceField,
  rounds: z
    .int()
    .nullable()
    .default(null)
    .describe('Rounds in which both sides were measured by turns; null where each side was measured on its own'),
  before: z.string().describe('The first side: the file of a report, or what was measured'),
  after: z.string(),
  aspects: z
    .array(z.strictObject({ aspect: z.string(), before: z.string(), after: z.string() }))
    .describe('Facts about machine, runtime and settings that differ'),
  put_down_to: z
    .string()
    .nullable()
    .describe('The only aspect that differs; null where none differs, or several do, so that no cause is known'),
  warnings: z
    .array(z.strictObject({ cause: z.string(), message: z.string().describe('With the name of the side') }))
    .default([])
    .describe('Those of the two sides'),
  models: z.array(rowSchema),
  geometric_mean: z.strictObject({ models: z.int().describe('Rows of models in the mean'), ...ratioSchema }),
  bricks: z
    .array(
      z.strictObject({
        signature: z.string(),
        operators: z.array(z.string()),
        after_operators: z
          .array(z.string())
          .nullable()
          .default(null)
          .describe('Where the sides have different kernels between the same values: those of the second side'),
        before_ms: z.number(),
        after_ms: z.number(),
        ...ratioSchema,
        difference_ms: z.number().describe('Over all sequences of all models'),
        models: z.array(
          z.strictObject({
            name: z.string().describe('Label of the row'),
            sequences: z.int(),
            difference_ms: z.number(),
          }),
        ),
      }),
    )
    .describe(
      'What both sides have, the largest differences first: bricks of one signature, then kernels between the same values',
    ),
  unmatched_before_percent: known.describe('Share of the time before in bricks that only this side has'),
  unmatched_after_percent: known,
  no_bricks_before: z.string().nullable().describe('Why the side has no bricks of some models, and the remedy'),
  no_bricks_after: z.string().nullable(),
  only_before: z.array(z.string()).describe('Labels of rows of the first side alone'),
  only_after: z.array(z.string()),
});

export type ComparisonDocument = z.infer<typeof comparisonSchema>;

export type Aspect = ComparisonDocument['aspects'][number];
export type ComparedModel = ComparisonDocument['models'][number];
export type ComparedBrick = ComparisonDocument['bricks'][number];
