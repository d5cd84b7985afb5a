import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ExecutionOptions_TraceLevel as Level } from '../../../src/generated/mlmodelscope/org/dlframework/predictor.js';
import type { SpanDocument } from '../../../src/tracing/span-document.js';
import { requireTracing } from '../../../src/tracing/start-tracing.js';
import type { Tracing } from '../../../src/tracing/tracing.js';
import { coloredPictures } from '../support/colored-pictures.js';
import { foundIn, type PredictClient, predictClient } from '../support/predict-client.js';
import { predictionModels } from '../support/prediction-models.js';
import { agentForSuite } from '../support/running-agent.js';

describe('the trace of a prediction', { timeout: 300_000 }, () => {
  const agent = agentForSuite({ resolveModel: predictionModels() });
  let tracing: Tracing;
  let client: PredictClient;
  let pictures: readonly Buffer[];
  let model: string;
  before(async () => {
    tracing = await requireTracing({ serviceName: 'test', environment: {} });
    client = predictClient(agent().address);
    pictures = await coloredPictures(2);
    model = await client.open('classifier');
  });
  after(async () => {
    client.close();
    await tracing.close();
  });

  async function predict(traceLevel: Level): Promise<{ spans: readonly SpanDocument[]; found: unknown }> {
    const answer = await client.images(model, pictures, { executionOptions: { traceLevel } });
    return { spans: tracing.takeSpans(answer.traceId?.id ?? ''), found: foundIn(answer) };
  }

  const namesUnder = (spans: readonly SpanDocument[], parent: SpanDocument | undefined): readonly string[] => {
    return spans.filter(({ parent_span_id }) => parent_span_id === parent?.span_id).map(({ name }) => name);
  };

  test("has the platform's steps of every batch, and the run of the model", async () => {
    const { spans } = await predict(Level.MODEL_TRACE);
    const batch = spans.find(({ name }) => name === 'evaluate_batch');
    const [job] = spans.filter(({ parent_span_id }) => parent_span_id === batch?.span_id);

    assert.equal(batch?.attributes['batch_index'], 0);
    assert.deepEqual(namesUnder(spans, job), ['preprocess', 'predict', 'postprocess']);
    assert.deepEqual(
      namesUnder(
        spans,
        spans.find(({ name }) => name === 'predict'),
      ),
      ['c_predict'],
    );
    assert.ok(spans.every(({ attributes }) => attributes['trace_level'] !== 'FRAMEWORK_TRACE'));
  });

  test('has the kernels of the run where the client asks for them, and the same answer', async () => {
    const { found } = await predict(Level.MODEL_TRACE);
    const deeper = await predict(Level.FRAMEWORK_TRACE);
    const run = deeper.spans.find(({ name }) => name === 'c_predict');
    const kernels = deeper.spans.filter(({ parent_span_id }) => parent_span_id === run?.span_id);

    assert.deepEqual(deeper.found, found);
    assert.equal(run?.attributes['evaluation_trace_level'], 'FRAMEWORK_TRACE');
    assert.ok(kernels.length > 0);
    assert.deepEqual(
      kernels.map(({ attributes }) => attributes['layer_sequence_index']),
      kernels.map((_, position) => `${position}`),
    );
  });

  test('has no spans of the model where the client asks for a lower level', async () => {
    const { spans } = await predict(Level.APPLICATION_TRACE);
    assert.deepEqual([...new Set(spans.map(({ attributes }) => attributes['trace_level']))], ['APPLICATION_TRACE']);
  });
});
