import { provenanceField, z } from '../../../src/plugin-api.js';

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
