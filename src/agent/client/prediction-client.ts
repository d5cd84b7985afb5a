import {
  PredictionOptions,
  type PredictorOpenRequest,
  PredictService,
} from '../../generated/mlmodelscope/org/dlframework/predictor.js';
import {
  type PredictEachRequest,
  type PredictEachResponse,
  PredictionServiceService,
} from '../../generated/mlmodelscope/prediction/v1/prediction.js';
import type { System } from '../../measurement/system.js';
import type { PredictedFeature } from '../../processing/feature.js';
import { createRpcClient, type RpcClientOptions } from '../../rpc/client.js';
import { fromWireDuration } from '../../rpc/duration.js';
import type { PeerKind } from '../../rpc/status.js';
import { TRACE_LEVELS, type TraceLevel } from '../../tracing/trace-level.js';
import type { Predicted } from '../jobs/predict-session.js';
import { PREDICTION_CALL_DEADLINE_MS, PREDICTION_STREAM_DEADLINE_MS } from '../prediction-deadlines.js';
import { fromWireSystem } from '../wire/description-wire.js';
import { fromWireFeature } from '../wire/feature-wire.js';

const DESCRIBE_DEADLINE_MS = 10_000;

/** Short, because the agent may be gone. */
const CLOSE_DEADLINE_MS = 5000;

export type ModelToOpen = Readonly<Omit<PredictorOpenRequest, 'persist' | 'options'>>;

export interface PredictionSettings {
  readonly batchSize?: number | undefined;
  /** Features of each input. */
  readonly featureLimit?: number | undefined;
  readonly traceLevel?: TraceLevel | undefined;
}

export interface BatchTimes extends Omit<Predicted, 'features'> {
  readonly size: number;
}

export interface Prediction {
  readonly inputId: string;
  /** Times of its batch; only with the first features of each batch. */
  readonly batch?: BatchTimes | undefined;
  readonly outcome:
    | { readonly kind: 'features'; readonly features: readonly PredictedFeature[] }
    | { readonly kind: 'failure'; readonly code: string; readonly message: string };
}

export interface AnsweredPrediction extends Prediction {
  readonly total: number;
  /** '' where the call is not traced. */
  readonly traceId: string;
}

export interface DescribedPredictor {
  readonly modelName: string;
  /** As its manifest states it. */
  readonly modelVersion: string;
  readonly framework: { readonly name: string; readonly version: string };
  readonly system: System;
  readonly hostname: string;
  /** Library that decodes pictures; undefined for an agent of an earlier version. */
  readonly decoder?: string | undefined;
}

export type PredictionInputs = NonNullable<PredictEachRequest['inputs']>;

export type PredictionClient = ReturnType<typeof connectPredictions>;

function toWireOptions({ batchSize = 0, featureLimit = 0, traceLevel }: PredictionSettings): PredictionOptions {
  const executionOptions = { traceLevel: traceLevel === undefined ? 0 : TRACE_LEVELS.indexOf(traceLevel) };
  return PredictionOptions.create({ featureLimit, batchSize, executionOptions });
}

function fromWireTimes(batch: PredictEachResponse['batch']): BatchTimes | undefined {
  return (
    batch && {
      size: batch.size,
      preprocessMs: fromWireDuration(batch.preprocess) ?? 0,
      inferenceMs: fromWireDuration(batch.inference) ?? 0,
      postprocessMs: fromWireDuration(batch.postprocess) ?? 0,
    }
  );
}

function fromWire({ total, inputId, batch, traceId, outcome }: PredictEachResponse): AnsweredPrediction {
  const common = { total, inputId, traceId, batch: fromWireTimes(batch) };
  switch (outcome?.$case) {
    case 'features': {
      const features = outcome.value.features.map(fromWireFeature);
      return { ...common, outcome: { kind: 'features', features } };
    }
    case 'failure':
      return { ...common, outcome: { kind: 'failure', ...outcome.value } };
    case undefined:
      throw new Error('an answer without an outcome');
  }
}

export function connectPredictions(address: string, kind: PeerKind, options?: RpcClientOptions) {
  const client = createRpcClient(address, kind, options);

  return {
    async open(model: ModelToOpen, settings: PredictionSettings, signal: AbortSignal): Promise<string> {
      const request = { ...model, persist: false, options: toWireOptions(settings) };
      return (await client.unary(PredictService.open, request, { deadlineMs: PREDICTION_CALL_DEADLINE_MS, signal })).id;
    },

    /** In the order of the inputs, each as soon as its batch is done. */
    async *predictEach(id: string, inputs: PredictionInputs, signal: AbortSignal): AsyncIterable<AnsweredPrediction> {
      const request = { predictor: { id, duration: undefined }, options: undefined, inputs };
      const callOptions = { deadlineMs: PREDICTION_STREAM_DEADLINE_MS, signal };
      for await (const answer of client.stream(PredictionServiceService.predictEach, request, callOptions)) {
        yield client.decodeAnswer(() => fromWire(answer));
      }
    },

    async describe(id: string, signal: AbortSignal): Promise<DescribedPredictor> {
      const request = { predictor: { id, duration: undefined } };
      const { describePredictor } = PredictionServiceService;
      const answer = await client.unary(describePredictor, request, { deadlineMs: DESCRIBE_DEADLINE_MS, signal });
      const { frameworkName: name, frameworkVersion: version, system, decoder, ...described } = answer;
      return {
        ...described,
        framework: { name, version },
        system: client.decodeAnswer(() => fromWireSystem(system)),
        decoder: decoder === '' ? undefined : decoder,
      };
    },

    async closeModel(id: string): Promise<void> {
      const request = { predictor: { id, duration: undefined }, force: true };
      await client.unary(PredictService.close, request, { deadlineMs: CLOSE_DEADLINE_MS });
    },

    close: (): void => client.close(),
  };
}
