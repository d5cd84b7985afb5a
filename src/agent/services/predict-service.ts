import {
  type FeaturesResponse,
  type PredictionOptions,
  type Predictor,
  type PredictorOpenRequest,
  type PredictServer,
  PredictService,
} from '../../generated/mlmodelscope/org/dlframework/predictor.js';
import type { Framework } from '../../predictor/predictor.js';
import type { PredictionModel } from '../../registry/prediction-model.js';
import { toWireDuration } from '../../rpc/duration.js';
import { MAX_MESSAGE_BYTES } from '../../rpc/limits.js';
import type { RpcServer } from '../../rpc/server.js';
import { openModelId } from '../no-open-model.js';
import { predictBatches } from '../predict/batches.js';
import type { MakeInputs, PredictInputs } from '../predict/inputs.js';
import type { OpenModels } from '../predict/open-models.js';
import { traceAtLevel, batchSizeFor, parsePredictOptions } from '../predict/options.js';
import { checkOpenRequest } from '../predict/request.js';
import { toFeaturesResponse } from '../predict/response.js';
import { withinTime } from '../predict/time-limit.js';

/** An empty version means any. @throws PlatformError `not_found`, `unsupported` where another framework is needed */
export type ResolveModel = (name: string, version: string, framework: Framework) => Promise<PredictionModel>;

export interface PredictServiceOptions {
  readonly framework: Framework;
  readonly resolveModel: ResolveModel;
  readonly models: OpenModels;
  readonly inputs: PredictInputs;
}

interface PredictRequest {
  readonly predictor?: Predictor | undefined;
  readonly options?: PredictionOptions | undefined;
}

export function addPredictService(server: RpcServer, service: PredictServiceOptions): void {
  const { framework, resolveModel, models, inputs } = service;
  const { calls } = server;

  async function open(request: PredictorOpenRequest, signal: AbortSignal): Promise<string> {
    checkOpenRequest(request, framework);
    const options = parsePredictOptions(request.options);
    return withinTime(options.timeLimitMs, signal, (inTime) => {
      return models.open(async () => {
        const model = await resolveModel(request.modelName, request.modelVersion, framework);
        batchSizeFor(model, options.batchSize);
        return { model, options, persist: request.persist };
      }, inTime);
    });
  }

  async function predict(
    request: PredictRequest,
    signal: AbortSignal,
    makeInputs: MakeInputs,
  ): Promise<FeaturesResponse> {
    const startMs = performance.now();
    return models.use(openModelId(request), async (model) => {
      const options = parsePredictOptions(request.options, model.options);
      const batchSize = batchSizeFor(model.model, options.batchSize);
      const results = await traceAtLevel(options, () => {
        return withinTime(options.timeLimitMs, signal, async (inTime) => {
          const { batches } = await makeInputs({ model: model.model, batchSize, signal: inTime });
          return predictBatches(model, batches, options.featureLimit, inTime);
        });
      });
      return toFeaturesResponse(results, options, performance.now() - startMs);
    });
  }

  const answers = {
    open: calls.unary(async (call, signal) => {
      const startMs = performance.now();
      const id = await open(call.request, signal);
      return { id, duration: toWireDuration(performance.now() - startMs) };
    }),
    close: calls.unary(async (call) => {
      const startMs = performance.now();
      await models.close(openModelId(call.request), call.request.force);
      return { duration: toWireDuration(performance.now() - startMs) };
    }),
    reset: calls.unary(async (call, signal) => {
      const startMs = performance.now();
      const id = openModelId(call.request);
      await models.reset(id, signal);
      return { predictor: { id, duration: toWireDuration(performance.now() - startMs) } };
    }),
    images: calls.unary((call, signal) => predict(call.request, signal, inputs.images(call.request.images))),
    urLs: calls.unary((call, signal) => predict(call.request, signal, inputs.urls(call.request.urls))),
    dataset: calls.unary((call, signal) => predict(call.request, signal, inputs.dataset(call.request.dataset))),
  } satisfies PredictServer;
  server.addService(PredictService, answers, { maxRequestBytes: { images: MAX_MESSAGE_BYTES } });
}
