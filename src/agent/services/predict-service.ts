import type { handleUnaryCall } from '@grpc/grpc-js';
import {
  type DatasetRequest,
  type FeaturesResponse,
  type ImagesRequest,
  type PredictionOptions,
  type Predictor,
  type PredictorCloseRequest,
  type PredictorCloseResponse,
  type PredictorOpenRequest,
  PredictService,
  type ResetRequest,
  type ResetResponse,
  type URLsRequest,
} from '../../generated/mlmodelscope/org/dlframework/predictor.js';
import { runOptionsOf } from '../../measurement/system.js';
import type { Framework } from '../../predictor/predictor.js';
import { imageInputOf, type PredictionModel } from '../../registry/prediction-model.js';
import type { ActiveCalls } from '../../rpc/active-calls.js';
import { toWireDuration } from '../../rpc/duration.js';
import { MAX_MESSAGE_BYTES } from '../../rpc/limits.js';
import type { RpcServer } from '../../rpc/server.js';
import { activeTracing } from '../../tracing/tracing.js';
import { defaultMemoryLimitBytes, type Machine } from './describe-system.js';
import type { WorkerRunner } from '../worker/worker-runner.js';
import { isPublicAddress } from '../predict/address.js';
import { imageBatches, type InputBatch, madeUpBatches, predictBatches } from '../predict/batches.js';
import { datasetFiles, readDatasetFile, SYNTHETIC, syntheticCount } from '../predict/dataset.js';
import { type ModelInUse, OpenModels } from '../predict/open-models.js';
import { batchSizeFor, type PredictOptions, predictOptionsOf } from '../predict/options.js';
import { checkOpenRequest, inputIdOf, requireInputs } from '../predict/request.js';
import { toFeaturesResponse } from '../predict/response.js';
import { withinTime } from '../predict/time-limit.js';
import { fetchUrl } from '../predict/url.js';

/** Time limit of one job, beside the call's own time limit. */
const JOB_LIMIT_MS = 15 * 60_000;

/**
 * Finds a model by name. An empty version means any.
 *
 * @throws PlatformError `not_found`
 */
export type ResolveModel = (name: string, version: string) => Promise<PredictionModel>;

/** Files and addresses that clients may read through this agent. */
export interface PredictAccess {
  /** The folder whose folders are datasets. */
  readonly datasetsFolder?: string | undefined;
  /** IP addresses that pictures may be fetched from; by default those on the internet. */
  readonly isAllowedAddress?: ((address: string) => boolean) | undefined;
}

export interface PredictServiceOptions extends PredictAccess {
  readonly machine: Machine;
  readonly framework: Framework;
  readonly runner: WorkerRunner;
  readonly calls: ActiveCalls;
  readonly resolveModel: ResolveModel;
}

type Batches = AsyncIterable<InputBatch> | Iterable<InputBatch>;

/** Makes the batches of one call. */
type MakeBatches = (model: ModelInUse, batchSize: number, signal: AbortSignal) => Batches | Promise<Batches>;

/** A call that predicts. */
interface PredictRequest {
  readonly predictor?: Predictor | undefined;
  readonly options?: PredictionOptions | undefined;
}

/** Makes spans down to the level that the client asks for, by default that of its trace. */
function atLevelOf<T>({ traceLevel }: PredictOptions, work: () => T): T {
  const tracing = traceLevel === 'NO_TRACE' ? undefined : activeTracing();
  return tracing === undefined ? work() : tracing.atLevel(traceLevel, work);
}

/** Adds the platform's service that opens models and predicts with them. Each has a process of its own. */
export function addPredictService(server: RpcServer, service: PredictServiceOptions): void {
  const { machine, framework, runner, calls, resolveModel, isAllowedAddress = isPublicAddress } = service;
  const runOptions = runOptionsOf(machine.cores);
  const limits = { timeLimitMs: JOB_LIMIT_MS, memoryLimitBytes: defaultMemoryLimitBytes(machine) };
  const models = new OpenModels({ runner, runOptions, limits });

  async function open(request: PredictorOpenRequest, signal: AbortSignal): Promise<string> {
    checkOpenRequest(request, framework);
    const options = predictOptionsOf(request.options);
    return withinTime(options.timeLimitMs, signal, (inTime) => {
      return models.open(async () => {
        const model = await resolveModel(request.modelName, request.modelVersion);
        batchSizeFor(model, options.batchSize);
        return { model, options, persist: request.persist };
      }, inTime);
    });
  }

  async function predict(
    { predictor, options: asked }: PredictRequest,
    signal: AbortSignal,
    makeBatches: MakeBatches,
  ): Promise<FeaturesResponse> {
    const startMs = performance.now();
    return models.use(predictor?.id ?? '', async (model) => {
      const options = predictOptionsOf(asked, model.options);
      const batchSize = batchSizeFor(model.model, options.batchSize);
      const results = await atLevelOf(options, () => {
        return withinTime(options.timeLimitMs, signal, async (inTime) => {
          const batches = await makeBatches(model, batchSize, inTime);
          return predictBatches(model, batches, options.featureLimit, inTime);
        });
      });
      return toFeaturesResponse(results, options, performance.now() - startMs);
    });
  }

  const answerOpen: handleUnaryCall<PredictorOpenRequest, Predictor> = (call, callback) => {
    const startMs = performance.now();
    void calls.answer(call, callback, async (signal) => {
      const id = await open(call.request, signal);
      return { id, duration: toWireDuration(performance.now() - startMs) };
    });
  };

  const answerClose: handleUnaryCall<PredictorCloseRequest, PredictorCloseResponse> = (call, callback) => {
    const startMs = performance.now();
    void calls.answer(call, callback, async () => {
      await models.close(call.request.predictor?.id ?? '', call.request.force);
      return { duration: toWireDuration(performance.now() - startMs) };
    });
  };

  const answerReset: handleUnaryCall<ResetRequest, ResetResponse> = (call, callback) => {
    const startMs = performance.now();
    void calls.answer(call, callback, async (signal) => {
      const id = call.request.predictor?.id || call.request.id;
      await models.reset(id, signal);
      return { predictor: { id, duration: toWireDuration(performance.now() - startMs) } };
    });
  };

  const answerImages: handleUnaryCall<ImagesRequest, FeaturesResponse> = (call, callback) => {
    const { images } = call.request;
    void calls.answer(call, callback, (signal) => {
      return predict(call.request, signal, ({ model }, batchSize) => {
        requireInputs(images, 'images');
        imageInputOf(model);
        return imageBatches(images, batchSize, (image, place) => ({ id: inputIdOf(image, place), bytes: image.data }));
      });
    });
  };

  const answerUrls: handleUnaryCall<URLsRequest, FeaturesResponse> = (call, callback) => {
    const { urls } = call.request;
    void calls.answer(call, callback, (requestSignal) => {
      return predict(call.request, requestSignal, ({ model }, batchSize, signal) => {
        requireInputs(urls, 'urls');
        imageInputOf(model);
        return imageBatches(urls, batchSize, async (url, place, maxBytes) => {
          const bytes = await fetchUrl(url.data, { maxBytes, isAllowed: isAllowedAddress, signal });
          return { id: inputIdOf(url, place), bytes };
        });
      });
    });
  };

  const answerDataset: handleUnaryCall<DatasetRequest, FeaturesResponse> = (call, callback) => {
    const { category = '', name = '' } = call.request.dataset ?? {};
    void calls.answer(call, callback, (signal) => {
      return predict(call.request, signal, async ({ model }, batchSize): Promise<Batches> => {
        if (category === SYNTHETIC) return madeUpBatches(syntheticCount(name, batchSize), batchSize);
        imageInputOf(model);
        const files = await datasetFiles(service.datasetsFolder, category, name);
        return imageBatches(files, batchSize, async (file, _, maxBytes) => {
          return { id: file.id, bytes: await readDatasetFile(file, maxBytes) };
        });
      });
    });
  };

  server.addService(
    PredictService,
    {
      open: answerOpen,
      close: answerClose,
      reset: answerReset,
      images: answerImages,
      urLs: answerUrls,
      dataset: answerDataset,
    },
    { maxRequestBytes: { images: MAX_MESSAGE_BYTES } },
  );
}
