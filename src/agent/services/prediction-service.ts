import { PlatformError } from '../../base/errors.js';
import {
  type PredictEachRequest,
  type PredictEachResponse,
  type PredictionServiceServer,
  PredictionServiceService,
} from '../../generated/mlmodelscope/prediction/v1/prediction.js';
import { buildRunOptions } from '../../measurement/system.js';
import { toWireDuration } from '../../rpc/duration.js';
import { MAX_MESSAGE_BYTES } from '../../rpc/limits.js';
import type { RpcServer } from '../../rpc/server.js';
import { openModelId } from '../no-open-model.js';
import { countFeatureBytes, type ElementOutcome, predictEach } from '../predict/batches.js';
import type { MakeInputs, PredictInputs } from '../predict/inputs.js';
import type { OpenModels } from '../predict/open-models.js';
import { traceAtLevel, batchSizeFor, type PredictOptions, parsePredictOptions } from '../predict/options.js';
import { toFeatureResponse, answeredTraceId } from '../predict/response.js';
import { withinTimePerBatch } from '../predict/time-limit.js';
import type { Predicted } from '../jobs/predict-session.js';
import type { AgentDescription } from '../agent-description.js';
import { toWireSystem } from '../wire/description-wire.js';

/** Most bytes of an input's features: they must fit into a message, and a mask takes several times its size. */
const MAX_FEATURES_BYTES = MAX_MESSAGE_BYTES / 4;

type Answer = Omit<PredictEachResponse, 'total' | 'traceId' | 'batch'>;

function failure(inputId: string, batchIndex: number, { code, message }: PlatformError): Answer {
  return { inputId, batchIndex, outcome: { $case: 'failure', value: { code, message } } };
}

function answerFor(outcome: ElementOutcome, options: PredictOptions): Answer {
  const { id, batchIndex } = outcome;
  if (outcome.kind === 'failure') return failure(id, batchIndex, outcome.error);
  const bytes = countFeatureBytes(outcome.features);
  if (bytes > MAX_FEATURES_BYTES) {
    const problem = `its features take ${bytes} bytes; an answer has room for ${MAX_FEATURES_BYTES}`;
    return failure(id, batchIndex, new PlatformError('unsupported', `${problem}: set feature_limit`));
  }
  return { inputId: id, batchIndex, outcome: { $case: 'features', value: toFeatureResponse(outcome, options) } };
}

function toWireTimes({ features, preprocessMs, inferenceMs, postprocessMs }: Predicted): PredictEachResponse['batch'] {
  return {
    size: features.length,
    preprocess: toWireDuration(preprocessMs),
    inference: toWireDuration(inferenceMs),
    postprocess: toWireDuration(postprocessMs),
  };
}

export interface PredictionServiceOptions {
  readonly description: AgentDescription;
  readonly models: OpenModels;
  readonly inputs: PredictInputs;
}

export function addPredictionService(server: RpcServer, options: PredictionServiceOptions): void {
  const { description, models, inputs } = options;
  const { calls } = server;

  function parseInputs({ inputs: asked }: PredictEachRequest): MakeInputs {
    switch (asked?.$case) {
      case 'images':
        return inputs.images(asked.value.images);
      case 'urls':
        return inputs.urls(asked.value.urls);
      case 'dataset':
        return inputs.dataset(asked.value);
      case 'elements':
        return inputs.elements(asked.value.elements);
      case undefined:
        throw new PlatformError('usage', 'inputs is empty: give images, urls, a dataset or elements');
    }
  }

  const answers = {
    predictEach: calls.streaming(async (call, signal) => {
      const { request } = call;
      const makeInputs = parseInputs(request);
      await models.use(openModelId(request), async (model) => {
        const options = parsePredictOptions(request.options, model.options);
        const batchSize = batchSizeFor(model.model, options.batchSize);
        const { featureLimit, timeLimitMs } = options;
        await traceAtLevel(options, async () => {
          const { total, batches } = await makeInputs({ model: model.model, batchSize, signal });
          const traceId = answeredTraceId(options);
          const told = new Set<Predicted>();
          const settings = { featureLimit, onBadInput: 'leave out' } as const;
          for await (const outcomes of predictEach(withinTimePerBatch(model, timeLimitMs), batches, settings, signal)) {
            for (const outcome of outcomes) {
              const isFirst = outcome.kind === 'result' && !told.has(outcome.batch);
              const batch = isFirst ? toWireTimes(outcome.batch) : undefined;
              if (isFirst) told.add(outcome.batch);
              await calls.send(call, { total, traceId, batch, ...answerFor(outcome, options) }, signal);
            }
            told.clear();
          }
        });
      });
    }),
    describePredictor: calls.unary((call) => {
      return models.use(openModelId(call.request), ({ model: { name, version, manifest } }) => {
        return Promise.resolve({
          modelName: name,
          modelVersion: manifest?.version ?? version,
          frameworkName: manifest?.framework?.name ?? description.framework,
          frameworkVersion: manifest?.framework?.version ?? description.frameworkVersion,
          system: toWireSystem(description, buildRunOptions(description.cores, description)),
          hostname: description.host,
          decoder: description.surroundings?.decoder ?? '',
        });
      });
    }),
  } satisfies PredictionServiceServer;
  server.addService(PredictionServiceService, answers, { maxRequestBytes: { predictEach: MAX_MESSAGE_BYTES } });
}
