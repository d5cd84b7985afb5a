import { z } from 'zod';
import { provenanceField } from '../agent/provenance.js';
import { stackSchema } from '../measurement/system-document.js';

const FORMAT = 'systems/1';

const ms = z.number().nonnegative().nullable();

const estimateSchema = z.strictObject({
  model: z.string(),
  latency_ms: ms.describe('null where nothing is known'),
  low_ms: ms,
  high_ms: ms,
  coverage: z.number().min(0).max(1).describe('Share of the model that is measured'),
  percentiles: z
    .array(
      z.strictObject({
        percentage: z.number().gt(0).lt(100),
        latency_ms: ms,
        reason: z.string().nullable().describe('Why the latency is null'),
      }),
    )
    .default([])
    .describe("Of the model's runs, where the plugin times whole models"),
});

const systemSchema = z.strictObject({
  name: z.string().describe('Short name that distinguishes it from the other systems'),
  fingerprint: z.string(),
  ...stackSchema.omit({ processor_features: true }).shape,
  threads: z.int(),
  agents: z.array(z.string()).describe('Addresses of the agents that measured, those that ended included'),
  estimates: z.array(estimateSchema).describe('In the order of the models'),
  partial: z.boolean().describe('A part of its result is missing'),
  failure: z
    .strictObject({ code: z.string(), message: z.string() })
    .nullable()
    .describe('Why it has no result; null where it has one'),
  result: z
    .unknown()
    .describe("The plugin's own result document; null where there is none, or where all of them together are too long"),
});

export const systemsResultSchema = z.strictObject({
  format: z.literal(FORMAT),
  evaluation: z.string().describe('Name of the evaluation, as its manifest has it'),
  plugin: z.string(),
  provenance: provenanceField,
  models: z.array(z.string()),
  systems: z.array(systemSchema).min(1),
});

export type SystemsResult = z.infer<typeof systemsResultSchema>;
export type SystemResult = SystemsResult['systems'][number];

export function buildSystemsResult(content: Omit<SystemsResult, 'format'>): SystemsResult {
  return { format: FORMAT, ...content };
}

export function systemsResultIn(document: unknown): SystemsResult | undefined {
  return systemsResultSchema.safeParse(document).data;
}
