import { z } from 'zod';
import type { CollectionDefinition } from '../store/collection.js';
import { jaegerDocumentSchema } from '../tracing/jaeger-document.js';
import { TRACE_LEVELS } from '../tracing/trace-level.js';

/*
 * Names are those that the platform's analyses read (c3sr/evaluation, evaluation.go and performance.go; c3sr/machine,
 * machine.proto, in lower case). Identifiers are ObjectIds and times are dates in MongoDB; fields that need a GPU are
 * left out, except for `gpu_driver`.
 */

const objectId = z.string().regex(/^[0-9a-f]{24}$/);
const time = z.iso.datetime({ precision: 3 });
/** Analyses read the memory and the first processor's name. */
const machineSchema = z.strictObject({
  hostname: z.string(),
  kernelarch: z.string(),
  osname: z.string(),
  /** Kibibytes. */
  memtotal: z.number(),
  cpu: z.array(
    z.strictObject({ modelname: z.string(), cpucores: z.int(), cachesize: z.string(), flags: z.array(z.string()) }),
  ),
});
const named = z.strictObject({ name: z.string(), version: z.string() });

export const evaluationDocumentSchema = z.strictObject({
  _id: objectId,
  /** Of the system and the protocol, so that evaluations of one run of the command share it. */
  run_id: z.string(),
  created_at: time,
  /** `model.framework` is the one that the model's manifest asks for. */
  framework: named,
  model: z.strictObject({ ...named.shape, framework: named }),
  dataset_category: z.string(),
  dataset_name: z.string(),
  /** With Go's names: amd64. Before 0.2, with those of Node.js. */
  machine_architecture: z.string(),
  using_gpu: z.boolean(),
  batch_size: z.int().min(1),
  /** Before 0.2, the host of the command. */
  hostname: z.string(),
  trace_level: z.string(),
  performance_id: objectId,
  input_prediction_ids: z.array(objectId).optional(),
  public: z.boolean(),
  machine_information: machineSchema,
  /** Empty without a GPU: the platform's tables fail without it. Absent before 0.2. */
  gpu_driver: z.string().optional(),
  metadata: z.record(z.string(), z.string()),
});

export type EvaluationDocument = z.infer<typeof evaluationDocumentSchema>;

export const performanceDocumentSchema = z.strictObject({
  _id: objectId,
  created_at: time,
  /** Jaeger's JSON, compressed by Snappy, in base64. Before 0.2, Jaeger's JSON document itself. */
  trace: z.union([z.string(), jaegerDocumentSchema]),
  /** The level's number. Before 0.2, its name. */
  trace_level: z.union([
    z
      .int()
      .min(0)
      .max(TRACE_LEVELS.length - 1),
    z.string(),
  ]),
  /** Empty where the trace is only in this document. */
  trace_url: z.string(),
});

export type PerformanceDocument = z.infer<typeof performanceDocumentSchema>;

export const EVALUATION_DOCUMENTS: CollectionDefinition<EvaluationDocument> = {
  name: 'evaluation',
  schema: evaluationDocumentSchema,
  key: ['_id'],
  indexes: [['run_id'], ['hostname']],
  types: { _id: 'object_id', created_at: 'date', performance_id: 'object_id', input_prediction_ids: 'object_id' },
};

const classFields = { index: z.int(), label: z.string() };
const boxFields = { ...classFields, xmin: z.number(), xmax: z.number(), ymin: z.number(), ymax: z.number() };

/** Field names are in lower case, as the platform's driver writes them. */
const featureSchema = z.strictObject({
  id: z.string(),
  /** FeatureType of features.proto. */
  type: z.int(),
  probability: z.number(),
  metadata: z.record(z.string(), z.string()),
  feature: z.union([
    z.strictObject({ classification: z.strictObject(classFields) }),
    z.strictObject({ boundingbox: z.strictObject(boxFields) }),
  ]),
});

/** Source: c3sr/evaluation, prediction.go. Most fields have no name for the database there, so the driver makes one. */
const inputPredictionFields = z.strictObject({
  _id: objectId,
  createdat: time,
  inputid: z.string(),
  inputindex: z.int().min(0),
  /** Empty: the right label is not known. */
  expectedlabel: z.string(),
  features: z.array(featureSchema),
});

export type InputPredictionDocument = z.infer<typeof inputPredictionFields>;

/** The same, also as earlier versions of this project wrote it. */
export const inputPredictionDocumentSchema: z.ZodType<InputPredictionDocument> = z.preprocess((document) => {
  if (typeof document !== 'object' || document === null || !('created_at' in document)) return document;
  const { created_at: createdat, ...rest } = document;
  return { ...rest, createdat };
}, inputPredictionFields);

export const INPUT_PREDICTION_DOCUMENTS: CollectionDefinition<InputPredictionDocument> = {
  name: 'input_prediction',
  schema: inputPredictionDocumentSchema,
  key: ['_id'],
  indexes: [],
  types: { _id: 'object_id', createdat: 'date' },
};

export const PERFORMANCE_DOCUMENTS: CollectionDefinition<PerformanceDocument> = {
  name: 'performance',
  schema: performanceDocumentSchema,
  key: ['_id'],
  indexes: [],
  types: { _id: 'object_id', created_at: 'date' },
};
