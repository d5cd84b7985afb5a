import type { handleUnaryCall } from '@grpc/grpc-js';
import { isNoOpenModel, openModelId } from '../../agent/no-open-model.js';
import { PREDICTION_CALL_DEADLINE_MS, PREDICTION_STREAM_DEADLINE_MS } from '../../agent/prediction-deadlines.js';
import {
  type Predictor,
  type PredictServer,
  PredictService,
} from '../../generated/mlmodelscope/org/dlframework/predictor.js';
import {
  type PredictionServiceServer,
  PredictionServiceService,
} from '../../generated/mlmodelscope/prediction/v1/prediction.js';
import type { Method, RpcClient } from '../../rpc/client.js';
import { MAX_MESSAGE_BYTES } from '../../rpc/limits.js';
import type { RpcServer } from '../../rpc/server.js';
import type { PredictionForwarding } from './forwarding.js';

export function addForwardedPredictions(server: RpcServer, forwarding: PredictionForwarding): void {
  const { calls } = server;

  /** Does work on the agent of a model. Forgets the model if the agent does not have it (any more). */
  async function onAgent<T>(id: string, work: (client: RpcClient) => Promise<T>): Promise<T> {
    const client = forwarding.clientFor(id);
    try {
      return await work(client);
    } catch (error) {
      if (isNoOpenModel(error)) forwarding.forget(id);
      throw error;
    }
  }

  function forward<Request extends { readonly predictor?: Predictor | undefined }, Response>(
    method: Method<Request, Response>,
  ): handleUnaryCall<Request, Response> {
    return calls.unary((call, signal) => {
      const options = { deadlineMs: PREDICTION_CALL_DEADLINE_MS, signal };
      return onAgent(openModelId(call.request), (client) => client.unary(method, call.request, options));
    });
  }

  const predictors = {
    open: calls.unary((call, signal) => forwarding.open(call.request, signal)),
    close: calls.unary(async (call, signal) => {
      const id = openModelId(call.request);
      const options = { deadlineMs: PREDICTION_CALL_DEADLINE_MS, signal };
      const answer = await forwarding.clientFor(id).unary(PredictService.close, call.request, options);
      forwarding.forget(id);
      return answer;
    }),
    reset: forward(PredictService.reset),
    images: forward(PredictService.images),
    urLs: forward(PredictService.urLs),
    dataset: forward(PredictService.dataset),
  } satisfies PredictServer;
  server.addService(PredictService, predictors, { maxRequestBytes: { images: MAX_MESSAGE_BYTES } });

  const predictions = {
    predictEach: calls.streaming(async (call, signal) => {
      const options = { deadlineMs: PREDICTION_STREAM_DEADLINE_MS, signal };
      await onAgent(openModelId(call.request), async (client) => {
        for await (const answer of client.stream(PredictionServiceService.predictEach, call.request, options)) {
          await calls.send(call, answer, signal);
        }
      });
    }),
    describePredictor: forward(PredictionServiceService.describePredictor),
  } satisfies PredictionServiceServer;
  server.addService(PredictionServiceService, predictions, { maxRequestBytes: { predictEach: MAX_MESSAGE_BYTES } });
}
