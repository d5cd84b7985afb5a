import type { handleServerStreamingCall, handleUnaryCall } from '@grpc/grpc-js';
import { isNoOpenModel } from '../../agent/no-open-model.js';
import { PREDICTION_CALL_DEADLINE_MS, PREDICTION_STREAM_DEADLINE_MS } from '../../agent/prediction-deadlines.js';
import {
  type DatasetRequest,
  type FeaturesResponse,
  type ImagesRequest,
  type Predictor,
  type PredictorCloseRequest,
  type PredictorCloseResponse,
  type PredictorOpenRequest,
  PredictService,
  type ResetRequest,
  type ResetResponse,
  type URLsRequest,
} from '../../generated/mlmodelscope/org/dlframework/predictor.js';
import {
  type DescribePredictorRequest,
  type DescribePredictorResponse,
  type PredictEachRequest,
  type PredictEachResponse,
  PredictionServiceService,
} from '../../generated/mlmodelscope/prediction/v1/prediction.js';
import type { Method } from '../../rpc/client.js';
import { MAX_MESSAGE_BYTES } from '../../rpc/limits.js';
import type { RpcServer } from '../../rpc/server.js';
import type { PredictionForwarding } from './forwarding.js';

interface OfPredictor {
  readonly predictor?: Predictor | undefined;
}

export function addForwardedPredictions(server: RpcServer, forwarding: PredictionForwarding): void {
  const { calls } = server;

  /** Does work on a model. Forgets the model if the agent does not have it (any more). */
  async function passing<T>(id: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (isNoOpenModel(error)) forwarding.forget(id);
      throw error;
    }
  }

  function forward<Request extends OfPredictor, Response>(
    method: Method<Request, Response>,
    idOf = ({ predictor }: Request): string => predictor?.id ?? '',
  ): handleUnaryCall<Request, Response> {
    return (call, callback) => {
      void calls.answer(call, callback, (signal) => {
        const id = idOf(call.request);
        const client = forwarding.clientFor(id);
        const options = { deadlineMs: PREDICTION_CALL_DEADLINE_MS, signal };
        return passing(id, () => client.unary(method, call.request, options));
      });
    };
  }

  const open: handleUnaryCall<PredictorOpenRequest, Predictor> = (call, callback) => {
    void calls.answer(call, callback, (signal) => forwarding.open(call.request, signal));
  };

  const close: handleUnaryCall<PredictorCloseRequest, PredictorCloseResponse> = (call, callback) => {
    void calls.answer(call, callback, async (signal) => {
      const id = call.request.predictor?.id ?? '';
      const client = forwarding.clientFor(id);
      const answer = await client.unary(PredictService.close, call.request, {
        deadlineMs: PREDICTION_CALL_DEADLINE_MS,
        signal,
      });
      forwarding.forget(id);
      return answer;
    });
  };

  const predictEach: handleServerStreamingCall<PredictEachRequest, PredictEachResponse> = (call) => {
    void calls.stream(call, async (signal) => {
      const id = call.request.predictor?.id ?? '';
      const client = forwarding.clientFor(id);
      const options = { deadlineMs: PREDICTION_STREAM_DEADLINE_MS, signal };
      await passing(id, async () => {
        for await (const answer of client.stream(PredictionServiceService.predictEach, call.request, options)) {
          await calls.send(call, answer, signal);
        }
      });
    });
  };

  server.addService(
    PredictService,
    {
      open,
      close,
      reset: forward<ResetRequest, ResetResponse>(PredictService.reset, ({ predictor, id }) => predictor?.id || id),
      images: forward<ImagesRequest, FeaturesResponse>(PredictService.images),
      urLs: forward<URLsRequest, FeaturesResponse>(PredictService.urLs),
      dataset: forward<DatasetRequest, FeaturesResponse>(PredictService.dataset),
    },
    { maxRequestBytes: { images: MAX_MESSAGE_BYTES } },
  );
  const describePredictor = forward<DescribePredictorRequest, DescribePredictorResponse>(
    PredictionServiceService.describePredictor,
  );
  server.addService(
    PredictionServiceService,
    { predictEach, describePredictor },
    { maxRequestBytes: { predictEach: MAX_MESSAGE_BYTES } },
  );
}
