import {
  batchSizeField,
  dimensionAxesField,
  numberFrom,
  positiveNumber,
  remeasureSetting,
  runtimeSettings,
  SESSION_KEYS,
  sessionSchema,
  threadsSchema,
  wholeNumber,
  z,
} from '../../src/plugin-api.js';
import { SHORTEN } from './bricks/decompose.js';
import { VALUES } from './bricks/values-of-run.js';
import { CUTS } from './cut/cut.js';
import { MEASURE } from './measure/largest.js';

const MAX_VALUES = 100;

const granularityField = wholeNumber(1, 1_000_000);

function listField<Field extends z.ZodType>(field: Field) {
  return z.array(field).min(1).max(MAX_VALUES).optional();
}

const sessionAxes = SESSION_KEYS.map((key) => [key, listField(sessionSchema.shape[key].unwrap())] as const);

const matrixSchema = z
  .strictObject({
    batch_size: listField(batchSizeField),
    threads: listField(threadsSchema),
    cut: listField(z.enum(CUTS)),
    granularity: listField(granularityField),
    optimization_level: listField(runtimeSettings.optimization_level.unwrap()),
    execution_mode: listField(runtimeSettings.execution_mode.unwrap()),
    inter_op_threads: listField(runtimeSettings.inter_op_threads.unwrap()),
    session: z
      .strictObject(Object.fromEntries(sessionAxes))
      .optional()
      .describe("Lists of values by the keys of the runtime's session."),
    dimensions: dimensionAxesField
      .optional()
      .describe("Lists of sizes by the names of symbolic dimensions; win over the models' own."),
  })
  .refine(({ session = {}, dimensions = {}, ...axes }) => {
    const lists: readonly (readonly unknown[] | undefined)[] = [
      ...Object.values(axes),
      ...Object.values(session),
      ...Object.values(dimensions),
    ];
    return lists.reduce((cells, values) => cells * (values?.length ?? 1), 1) <= MAX_VALUES;
  }, `at most ${MAX_VALUES} combinations`);

export type Matrix = z.output<typeof matrixSchema>;

export const settingsSchema = z.strictObject({
  cut: z
    .enum(CUTS)
    .default('kernel')
    .describe("Where graphs are cut: at the runtime's kernels, or at the author's layers."),
  granularity: granularityField
    .optional()
    .describe(
      'The longest brick, in layers or kernels; one by default, blocks of up to 64 kernels in models of many short kernels, and without a profile.',
    ),
  keep_dynamic: z
    .boolean()
    .default(false)
    .describe(
      "Keep dimensions open that are open in the model's file, while the runtime optimizes graphs and runs whole models; by default they get sizes first.",
    ),
  shorten: z
    .enum(SHORTEN)
    .default('auto')
    .describe(
      'Models whose kernels are found in graphs with two and three of their repeated blocks and extended to all: those with more than 2 GiB of weights (large), those and the ones where it is faster (auto: at least eight blocks that are most of the graph, and made-up weights), all with at least four blocks, or none; kernel cut only.',
    ),
  values: z
    .enum(VALUES)
    .default('made-up')
    .describe(
      "Where the values come from that decide the work and sizes of operators (boxes of a non-maximum suppression, trip counts of loops): made up, or from one run of each model, with the weights of its file where that is on the agent's machine.",
    ),
  generation: z
    .strictObject({ prompt: wholeNumber(1, 1_000_000), tokens: wholeNumber(1, 1_000_000) })
    .optional()
    .describe(
      'Tokens of a prompt, and tokens that decoders generate after it. The time to the first token and the sum over steps with a growing cache are composed for each two models whose names differ only in _prefill and _decode.',
    ),
  measure_end_to_end: z.boolean().default(false).describe('Measure each whole model as well.'),
  check: z
    .boolean()
    .optional()
    .describe(
      "Run each model's optimized graph once whole with the runtime's profile, and compare its kernels with the bricks; by default only where whole models are measured; kernel cut only.",
    ),
  target_error: positiveNumber(1000)
    .default(5)
    .describe(
      "Percent. Bricks are measured again, in other processes, until half the width of each estimate's interval is within this; kernel cut only.",
    ),
  repeat_limit: numberFrom(0, 1000)
    .default(1)
    .describe(
      'Time limit for measuring bricks again, in multiples of the time to measure each brick once; three seconds at least, 0 for none.',
    ),
  ...runtimeSettings,
  measure: z
    .enum(MEASURE)
    .default('all')
    .describe(
      "Which bricks are measured that the store lacks: all; the largest, until half the width of each interval is within target_error; or none. The others are predicted from the store's measurements of the same operator on the same system; kernel cut only.",
    ),
  remeasure: remeasureSetting,
  matrix: matrixSchema
    .optional()
    .describe(
      'Values of settings; each combination is measured in one run and is a row of one table, and bricks that several have are measured once.',
    ),
});

export type Settings = z.output<typeof settingsSchema>;
