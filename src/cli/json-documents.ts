import { z } from 'zod';
import { snakeCaseSchema } from '../base/snake-case.js';
import { provenanceField, provenanceSchema } from '../agent/provenance.js';
import { findingSchema } from '../command/doctor/finding.js';
import { agentOfferSchema } from '../directory/agent-offer.js';
import { evaluationSchema } from '../evaluation/records.js';
import { platformEventSchema } from '../evaluation/event.js';
import { measurementSchema } from '../measurement/measurement.js';
import { PEAK_KINDS } from '../measuring/machine-peaks.js';
import { kernelMemorySchema, poolSchema } from '../measurement/kernel-facts-schema.js';
import { systemSchema } from '../measurement/system.js';
import { logSchema } from '../reference-log/log-schema.js';
import { reproductionSchema } from '../reference-log/reproduction-schema.js';
import { builtInModelSchema } from '../registry/built-in-models.js';

const count = z.int().min(0);
const ms = z.number();

const agentSchema = z.union([
  z.strictObject({
    ...agentOfferSchema.shape,
    models: z.array(z.string()).describe('Names of the models that it can open'),
    registeredAt: z.string().describe('ISO 8601 in UTC'),
  }),
  z.strictObject({
    address: z.string().nullable().describe('null: started for this command'),
    ...systemSchema.shape,
  }),
]);

const typeSchema = z.strictObject({
  type: z.string(),
  description: z.string(),
  parameters: z.array(z.strictObject({ name: z.string(), value: z.string() })),
});

/** An input or output of a model. */
export type RegisteredType = Readonly<z.infer<typeof typeSchema>>;

const registeredModelSchema = z.strictObject({
  name: z.string(),
  version: z.string(),
  framework: z.string().describe('Framework and versions that it needs'),
  task: z.string().nullable().describe('As in its manifest'),
  inputs: z.array(typeSchema),
  output: typeSchema.nullable(),
  graphChecksum: z.string().describe('Empty where its manifest has none'),
  agents: z.array(z.string()).describe('Addresses of the agents that can open it'),
});

export type RegisteredModel = Readonly<z.infer<typeof registeredModelSchema>>;

const shownEvaluationSchema = evaluationSchema.extend({
  last: z
    .strictObject({ sequence: count, at: z.iso.datetime(), event: platformEventSchema })
    .optional()
    .describe('The last event'),
});

const storeSchema = z.strictObject({
  store: z.string(),
  systems: z.array(
    z.strictObject({
      fingerprint: z.string(),
      system: systemSchema,
      measurements: count,
      failed: count,
      disturbed: count,
      oldest: z.string(),
      newest: z.string(),
    }),
  ),
  collections: z.array(z.strictObject({ name: z.string(), documents: count })),
});

const modelTraceSchema = z.strictObject({
  provenance: provenanceField,
  model: z.string(),
  system: systemSchema,
  traceId: z.string().optional().describe('Of the trace in the store'),
  modelMs: ms.describe('The whole model without tracing'),
  tracedModelMs: ms.describe('The whole model while the runtime times its kernels'),
  overheadMs: z.number().describe("Cost of tracing; below zero where it is less than the machine's noise"),
  kernelsMs: ms.describe('Sum of the kernels while they are timed'),
  operators: z
    .array(z.strictObject({ opName: z.string(), kernels: count, latencyMs: ms, share: z.number() }))
    .describe('Kernels by operator, the slowest first; kernels inside of others count as a part of those'),
  rows: z.array(
    z.strictObject({
      sequenceIndex: z.string(),
      name: z.string(),
      opName: z.string(),
      executionProvider: z.string(),
      shape: z.string(),
      inputShape: z.string(),
      elementType: z.string(),
      latencyMs: ms.describe('Trimmed mean of the runs'),
      share: z.number().describe('Share of the sum of all kernels'),
      runs: count,
      memory: kernelMemorySchema.optional().describe('Absent in profiles of older runtimes'),
      pool: poolSchema.optional().describe('Absent with one thread, which has no pool'),
    }),
  ),
});

const machineSchema = z.strictObject({
  provenance: provenanceField,
  warnings: z.array(z.string()).describe('Why values may be far off'),
  machines: z
    .array(
      z.strictObject({
        system: systemSchema,
        peaks: z
          .array(
            z.strictObject({
              kind: z.enum(PEAK_KINDS),
              value: z.number(),
              unit: z.string(),
              from: z.string().describe('How it was measured'),
              measuredAt: z.iso.datetime(),
            }),
          )
          .describe('Without those that could not be measured'),
        ridge: z.number().nullable().describe('Operations in float32 for each byte from memory; null: not known'),
      }),
    )
    .describe('One for each number of threads'),
});

/** null where the model gives no finite number. */
const modelNumber = z.number().nullable();

const classFields = {
  index: z.int().describe('Class'),
  label: z.string().describe('Empty where the manifest names no labels'),
};

const boxFields = {
  ...classFields,
  probability: modelNumber.describe('The score as the model gives it'),
  xmin: z.number().describe("From 0 to 1, from the left of the model's input"),
  xmax: z.number(),
  ymin: z.number().describe('From the top'),
  ymax: z.number(),
};

const maskFields = {
  height: count,
  width: count,
  mask: z
    .array(z.tuple([z.int(), z.int().min(1)]))
    .describe('Runs of equal pixels, row by row: the value and how many; -1 is a pixel without a class'),
};

const featureSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('classification'), ...classFields, probability: modelNumber }),
  z.strictObject({ kind: z.literal('bounding_box'), ...boxFields }),
  z.strictObject({ kind: z.literal('instance_segment'), ...boxFields, ...maskFields }),
  z.strictObject({
    kind: z.literal('semantic_segment'),
    classes: z
      .array(z.strictObject({ ...classFields, share: z.number().describe('Of the picture') }))
      .describe('The largest first'),
    ...maskFields,
  }),
  z.strictObject({
    kind: z.literal('raw'),
    name: z.string().describe("The output's"),
    elementType: z.string(),
    dimensions: z.array(count).describe('Without the batch'),
    values: z.array(z.union([modelNumber, z.string()])).describe('Row by row; whole numbers beyond 2^53 are texts'),
  }),
]);

const ofPrediction = {
  provenance: provenanceSchema.optional().describe('On the first line: what all lines are of'),
  inputId: z.string(),
};

const predictionSchema = z.union([
  z.strictObject({ ...ofPrediction, features: z.array(featureSchema).describe('The likeliest first') }),
  z.strictObject({
    ...ofPrediction,
    error: z.strictObject({ code: z.string(), message: z.string() }).describe('Why it has no features'),
  }),
]);

/** Documents that commands print with `--json`, in snake_case. Each kind has a schema under its name in `schemas/`. */
const DOCUMENTS = {
  agents: z.array(agentSchema),
  models: z.array(z.union([builtInModelSchema, registeredModelSchema])),
  evaluations: z.array(evaluationSchema),
  evaluation: shownEvaluationSchema,
  measurement: measurementSchema,
  store: storeSchema,
  findings: z.strictObject({
    subject: z.string().nullable().describe('File of a result; null: this machine'),
    findings: z.array(findingSchema).describe('The worst first'),
  }),
  machine: machineSchema,
  'model-trace': modelTraceSchema,
  log: logSchema,
  reproduction: reproductionSchema,
  prediction: predictionSchema,
} as const;

/** A prediction as it is exported, before its keys become snake_case. */
export type PredictionDocument = z.input<typeof predictionSchema>;

export type Documents = typeof DOCUMENTS;

export type DocumentKind = keyof Documents;

export const DOCUMENT_KINDS = Object.keys(DOCUMENTS) as DocumentKind[];

export function documentJsonSchema(kind: DocumentKind): object {
  const schema = snakeCaseSchema(z.toJSONSchema(DOCUMENTS[kind])) as { readonly properties?: object };
  // The plugin defines the result document, so its schema is open.
  return kind === 'evaluation' ? { ...schema, properties: { ...schema.properties, result: {} } } : schema;
}
