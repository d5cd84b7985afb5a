import { maxOf } from '../../base/long-lists.js';
import {
  PredictionOptions,
  PredictorOpenRequest,
  PredictService,
} from '../../generated/mlmodelscope/org/dlframework/predictor.js';
import { createRpcClient } from '../../rpc/client.js';
import type { Serving } from '../../agent/client/serving-client.js';
import type { TargetSpec } from '../messages.js';
import { QUERY_LIMIT_MS, UNKNOWN_END, unaryTarget } from './unary-target.js';

const OPEN_LIMIT_MS = 10 * 60_000;

const CLOSE_LIMIT_MS = 30_000;

/** With the synthetic datasets of the platform's own Predict service. */
export async function predictTarget(spec: Extract<TargetSpec, { kind: 'predict' }>): Promise<Serving> {
  const { reach, model, samples } = spec;
  const client = createRpcClient(reach.address, 'agent', reach.options);
  try {
    const options = { ...PredictionOptions.create(), batchSize: maxOf(samples) };
    const opening = { ...PredictorOpenRequest.create(), modelName: model.name, modelVersion: model.version, options };
    const predictor = await client.unary(PredictService.open, opening, { deadlineMs: OPEN_LIMIT_MS });
    const target = unaryTarget((size) => {
      const dataset = { category: 'synthetic', name: String(size) };
      const asked = { predictor, dataset, options: { ...PredictionOptions.create(), batchSize: size } };
      return client.unary(PredictService.dataset, asked, { deadlineMs: QUERY_LIMIT_MS });
    });
    const close: Serving['close'] = async () => {
      try {
        await client.unary(PredictService.close, { predictor, force: true }, { deadlineMs: CLOSE_LIMIT_MS });
      } finally {
        client.close();
      }
      return UNKNOWN_END;
    };
    return { target, close };
  } catch (error) {
    client.close();
    throw error;
  }
}
