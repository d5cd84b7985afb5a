import { z } from 'zod';
import { sha256Of } from '../base/sha256.js';
import { provenanceSchema } from '../agent/provenance.js';
import { estimatedBricks } from '../measurement/estimated-bricks.js';
import { ELEMENT_TYPE_NAMES } from '../onnx/model/element-type.js';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'expected SHA-256 as 64 digits');
const ms = z.number().nonnegative().nullable();
const count = z.int().min(0);

/** null: infinite or no number, which JSON does not have. */
const element = z.number().nullable();

const outputSchema = z.strictObject({
  name: z.string(),
  element_type: z.enum(ELEMENT_TYPE_NAMES),
  dims: z.array(count),
  sha256: sha256.describe('Of its elements, little-endian'),
  first: z.array(element).max(8).describe('Its first elements; null: infinite or no number'),
  norm: z.number().nonnegative().describe('Square root of the sum of the squares of its finite elements'),
  not_finite: count.describe('Elements that are infinite or no number'),
  top_5: z
    .array(count)
    .nullable()
    .describe('Positions of the five largest elements, the largest first; null where that means nothing'),
});

export type LoggedOutput = z.infer<typeof outputSchema>;

const manifestSchema = provenanceSchema.shape.manifests.element.extend({
  file: z.string().describe("Relative to the log's folder"),
});

const loggedModelSchema = z.strictObject({
  name: z.string(),
  graph_sha256: sha256.describe('Of the graph without its name and its weights'),
  files_sha256: sha256.nullable().describe('Of the files with graph and weights; null where no file has the weights'),
  weights: z.enum(['own', 'made_up']).describe('Of runs of the whole model; bricks always have made-up weights'),
  inputs: z.array(
    z.strictObject({
      name: z.string(),
      element_type: z.enum(ELEMENT_TYPE_NAMES),
      dims: z.array(count),
      kind: z.enum(['made_up', 'given']),
      seed: count,
    }),
  ),
  dimensions: z
    .array(z.strictObject({ name: z.string(), size: count }))
    .describe('Sizes of dimensions that its file leaves open'),
  latency_ms: ms.describe('Of the runs, or the estimate; null where there is none'),
  low_ms: ms.describe('Of the 95 % interval; null where one process was measured'),
  high_ms: ms,
  whole_ms: ms.describe('Of the whole model, measured beside an estimate; null where it was not'),
  runs: count.nullable(),
  samples_sha256: sha256.nullable().describe("Of the JSON list of the runs' times, ms; null where there are none"),
  throughput: z.number().nonnegative().nullable().describe('Inputs per second'),
  outputs: z.array(outputSchema).nullable().describe('What one run of the whole model computes'),
  layers: z
    .strictObject({ names: z.array(z.string()), norms: z.array(z.number().nonnegative()) })
    .nullable()
    .describe('Values between the layers in the order of the graph, of a run without optimizer'),
  spread_percent: estimatedBricks.spread_percent.optional(),
  bricks: estimatedBricks.bricks.optional().describe('The parts of an estimate; absent where there are none'),
  reasons: z.record(z.string(), z.string()).describe('By the names of fields that are null: why'),
});

export type LoggedModel = z.infer<typeof loggedModelSchema>;

const conditionsSchema = z.strictObject({
  warnings: z.array(z.string()),
  steal_percent: z.number().nullable(),
  others_percent: z.number().nullable(),
  throttled_percent: z.number().nullable(),
  lowest_mhz: z.number().nullable(),
  highest_mhz: z.number().nullable(),
  dropped_runs: count.nullable(),
  shared_share: z.number().nullable(),
  reason: z.string().nullable().describe('Why figures are null'),
});

export type LoggedConditions = z.infer<typeof conditionsSchema>;

const sections = {
  author: z.strictObject({ name: z.string(), contact: z.string().nullable() }).nullable(),
  tool: provenanceSchema.shape.tool,
  task: z.strictObject({
    command: z.string(),
    manifests: z.array(manifestSchema).max(5000),
    evaluations: z
      .array(z.record(z.string(), z.unknown()))
      .min(1)
      .max(1000)
      .describe("What was measured, each as an evaluation manifest; paths are relative to the log's folder"),
  }),
  resolved: provenanceSchema.pick({ host: true, stack: true, surroundings: true }),
  conditions: conditionsSchema,
  achieved: z
    .array(z.array(loggedModelSchema).max(1000))
    .min(1)
    .max(1000)
    .describe('For each evaluation, each of its models'),
};

export const SECTIONS = Object.keys(sections) as (keyof typeof sections)[];

export const logSchema = z.strictObject({
  dlspec: z.literal('log/v1', { error: '"log/v1"' }),
  id: z.uuid(),
  created_at: z.iso.datetime(),
  ...sections,
  checksums: z
    .record(z.enum(SECTIONS), sha256)
    .describe('SHA-256 of each part as JSON with sorted keys, so that an edited log is noticed'),
});

export type Log = z.infer<typeof logSchema>;

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, sorted(item)]));
}

/** The order of keys, comments and spaces do not change it. */
export function computeChecksum(section: unknown): string {
  return sha256Of(JSON.stringify(sorted(section)));
}
