import { z } from 'zod';
import { provenanceSchema } from '../agent/provenance.js';
import { OUTPUT_VERDICTS, PERFORMANCE_VERDICTS } from './verdicts.js';

export const reproductionSchema = z.strictObject({
  provenance: provenanceSchema,
  log: z.strictObject({ id: z.string(), created_at: z.string(), command: z.string() }),
  conditions: z.strictObject({
    verdict: z.enum(['comparable', 'not comparable']),
    differences: z.array(
      z.strictObject({ aspect: z.string(), logged: z.string(), now: z.string(), matters: z.boolean() }),
    ),
  }),
  outputs: z.enum(OUTPUT_VERDICTS).describe('The worst of the models'),
  performance: z.enum(PERFORMANCE_VERDICTS).describe('The worst of the models'),
  models: z.array(
    z.strictObject({
      model: z.string(),
      evaluation: z.int().min(1).describe('Which one of the log'),
      batch: z.int(),
      threads: z.int(),
      outputs: z.enum(OUTPUT_VERDICTS),
      outputs_detail: z.string().describe('What differs'),
      first_layer: z.string().nullable().describe('The first value between layers that differs; null where none does'),
      logged_ms: z.number().nullable(),
      now_ms: z.number().nullable().describe('Geometric mean where several processes were measured'),
      processes: z.int().describe('Processes that were measured now'),
      ratio: z.number().nullable().describe('Now over the log'),
      ratio_low: z.number().nullable().describe('Of the 95 % interval'),
      ratio_high: z.number().nullable(),
      performance: z.enum(PERFORMANCE_VERDICTS),
    }),
  ),
});

export type Reproduction = z.infer<typeof reproductionSchema>;
