import { z } from 'zod';
import { snakeCaseSchema, withSnakeKeys } from '../base/snake-case.js';
import { agentOfferSchema } from '../directory/agent-offer.js';
import { EVALUATION_STATES } from '../evaluation/records.js';
import { platformEventSchema } from '../evaluation/event.js';
import { measurementSchema } from '../measurement/measurement.js';
import { systemSchema } from '../measurement/system.js';

const count = z.int().min(0);
const ms = z.number();

/** A registered agent, or one without a registry. */
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

const modelSchema = z.strictObject({
  reference: z.string().describe('Its name in commands and manifests'),
  name: z.string(),
  version: z.string(),
  framework: z.string().describe('Framework and versions that it needs'),
  parameters: count,
  title: z.string(),
  manifest: z.string().describe('Path of its manifest'),
});

const evaluationSchema = z.strictObject({
  id: z.string(),
  name: z.string(),
  plugin: z.string(),
  state: z.enum(EVALUATION_STATES),
  submittedAt: z.iso.datetime(),
  changedAt: z.iso.datetime(),
});

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
  model: z.string(),
  system: systemSchema,
  traceId: z.string().optional().describe('Of the trace in the store'),
  modelMs: ms.describe('The whole model without tracing'),
  tracedModelMs: ms.describe('The whole model while the runtime times its kernels'),
  overheadMs: ms.describe('Cost of tracing'),
  kernelsMs: ms.describe('Sum of the kernels while they are timed'),
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
      untracedLatencyMs: ms.describe('The same without the cost of tracing'),
      share: z.number().describe('Share of the sum of all kernels'),
      runs: count,
    }),
  ),
});

/** What commands print with `--json`: each kind has a schema under this name in `schemas/`. Keys become snake_case. */
const DOCUMENTS = {
  agents: z.array(agentSchema),
  models: z.array(modelSchema),
  evaluations: z.array(evaluationSchema),
  evaluation: shownEvaluationSchema,
  measurement: measurementSchema,
  store: storeSchema,
  'model-trace': modelTraceSchema,
} as const;

export type DocumentKind = keyof typeof DOCUMENTS;

export const DOCUMENT_KINDS = Object.keys(DOCUMENTS) as DocumentKind[];

/** A document of this kind as it is printed. */
export function documentOf<K extends DocumentKind>(_kind: K, value: z.input<(typeof DOCUMENTS)[K]>): unknown {
  return withSnakeKeys(value);
}

/** A document of this kind as indented text. */
export function documentText<K extends DocumentKind>(kind: K, value: z.input<(typeof DOCUMENTS)[K]>): string {
  return `${JSON.stringify(documentOf(kind, value), null, 2)}\n`;
}

/** JSON Schema (draft 2020-12) of a kind. */
export function documentJsonSchema(kind: DocumentKind): object {
  const schema = snakeCaseSchema(z.toJSONSchema(DOCUMENTS[kind])) as { readonly properties?: object };
  // The result document is the plugin's own.
  return kind === 'evaluation' ? { ...schema, properties: { ...schema.properties, result: {} } } : schema;
}
