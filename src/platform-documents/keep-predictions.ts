import { FeatureType } from '../generated/mlmodelscope/org/dlframework/features.js';
import type { System } from '../measurement/system.js';
import type { ResultStore } from '../store/result-store.js';
import { INPUT_PREDICTION_DOCUMENTS, type InputPredictionDocument } from './documents.js';
import { computeIds, objectId } from './documents-of.js';
import type { Evaluated, EvaluatedModel } from './evaluated.js';
import { keepEvaluated } from './keep-evaluated.js';

export interface InputFeature {
  readonly index: number;
  readonly label: string;
  readonly probability: number;
  readonly corners?: { readonly xmin: number; readonly xmax: number; readonly ymin: number; readonly ymax: number };
}

/** Without features where the input could not be used. */
export interface InputPrediction {
  readonly inputId: string;
  readonly features: readonly InputFeature[];
}

export interface Predictions {
  /** Of this run of the command; decides the documents' identifiers. */
  readonly id: string;
  readonly model: EvaluatedModel;
  readonly system: System;
  readonly host: string;
  readonly dataset: NonNullable<Evaluated['dataset']>;
  /** ISO 8601. */
  readonly endedAt: string;
  /** With a whole batch. */
  readonly runMs: readonly number[];
  readonly inputs: readonly InputPrediction[];
  /** '' where not traced. */
  readonly traceId: string;
}

type FeatureDocument = InputPredictionDocument['features'][number];

function featureDocument({ index, label, probability, corners }: InputFeature, id: string): FeatureDocument {
  const common = { id, probability, metadata: {} };
  if (corners === undefined) {
    return { ...common, type: FeatureType.CLASSIFICATION, feature: { classification: { index, label } } };
  }
  return { ...common, type: FeatureType.BOUNDINGBOX, feature: { boundingbox: { index, label, ...corners } } };
}

function inputDocument(
  { inputId, features }: InputPrediction,
  inputindex: number,
  { id, endedAt }: Predictions,
): InputPredictionDocument {
  const finite = features.filter(({ probability }) => Number.isFinite(probability));
  return {
    _id: objectId(`input_prediction ${id} ${inputindex}`),
    createdat: endedAt,
    inputid: inputId,
    inputindex,
    expectedlabel: '',
    features: finite.map((feature, rank) => featureDocument(feature, objectId(`${id} ${inputindex} ${rank}`))),
  };
}

/** @returns the evaluation's identifier @throws PlatformError as {@link keepEvaluated} */
export async function keepPredictions(store: ResultStore, predictions: Predictions): Promise<string> {
  const { id, model, system, host, dataset, endedAt, runMs, inputs, traceId } = predictions;
  const documents = inputs.map((input, index) => inputDocument(input, index, predictions));
  // Documents that others refer to are stored first.
  const collection = store.collection(INPUT_PREDICTION_DOCUMENTS);
  for (const document of documents) await collection.put(document);
  const evaluated: Evaluated = {
    id,
    runId: id,
    model,
    system,
    host,
    endedAt,
    dataset,
    inputPredictionIds: documents.map(({ _id }) => _id),
    level: 'MODEL_TRACE',
    warmupMs: [],
    runs: runMs.map((durationMs) => ({ durationMs, layers: [] })),
    metadata: traceId === '' ? {} : { trace_id: traceId },
  };
  await keepEvaluated(store, evaluated);
  return computeIds(evaluated).evaluation;
}
