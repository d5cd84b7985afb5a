import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { sendUnaryData, ServerUnaryCall } from '@grpc/grpc-js';
import {
  GRPCInferenceServiceService,
  type ModelInferRequest,
  type ModelInferResponse,
  type ModelMetadataRequest,
  type ModelMetadataResponse,
} from '../../src/generated/inference/inference.js';
import type { TargetSpec } from '../../src/generator/messages.js';
import { startGenerator } from '../../src/generator/start.js';
import { unaryTarget } from '../../src/generator/targets/unary-target.js';
import type { QueryRecord } from '../../src/load/trial.js';
import { createRpcServer, type RpcServer } from '../../src/rpc/server.js';
import { PlatformError } from '../../src/base/errors.js';
import { toStatus } from '../../src/rpc/status.js';
import { predictionModels } from '../agent/support/prediction-models.js';
import { agentForSuite } from '../agent/support/running-agent.js';

const SAMPLES = [1, 2] as const;

/** A few queries of both sizes, one after another. */
async function queried(target: TargetSpec, count = 12): Promise<readonly QueryRecord[]> {
  const { signal } = new AbortController();
  const generator = await startGenerator([target], { signal, warmupSamples: 1 });
  try {
    const arrivals = Array.from({ length: count }, (_, index) => ({
      atMs: index * 5,
      samples: SAMPLES[index % 2] ?? 1,
    }));
    const { end, records } = await generator.trial({
      plan: { kind: 'open', arrivals },
      dispatch: 'turns',
      seed: 1,
      limit: 2,
    });
    assert.deepEqual(end, { kind: 'complete' });
    await generator.close();
    return records;
  } finally {
    generator.kill();
  }
}

describe('a server of the Open Inference Protocol', () => {
  const requests: ModelInferRequest[] = [];
  const servers: RpcServer[] = [];
  after(async () => {
    for (const server of servers) await server.close(new PlatformError('unavailable', 'the test has ended'));
  });

  async function serverWith(datatype: string, batch: bigint): Promise<string> {
    const server = createRpcServer();
    servers.push(server);
    const modelMetadata = (
      { request: { name } }: ServerUnaryCall<ModelMetadataRequest, ModelMetadataResponse>,
      callback: sendUnaryData<ModelMetadataResponse>,
    ): void => {
      const inputs = [{ name: 'x', datatype, shape: [batch, 3n, -1n] }];
      if (name === 'net') callback(null, { name, versions: ['1'], platform: 'test', inputs, outputs: [] });
      else callback(toStatus(new PlatformError('not_found', `no model ${name}`)));
    };
    const modelInfer = (
      { request }: ServerUnaryCall<ModelInferRequest, ModelInferResponse>,
      callback: sendUnaryData<ModelInferResponse>,
    ): void => {
      requests.push(request);
      if (requests.length === 10) callback(toStatus(new PlatformError('model', 'the tenth fails')));
      else callback(null, { modelName: request.modelName, modelVersion: '1', id: '' });
    };
    server.addService(GRPCInferenceServiceService, { modelMetadata, modelInfer });
    return server.listen({ host: '127.0.0.1', port: 0 });
  }

  const targetAt = (address: string, name = 'net'): TargetSpec => {
    return { kind: 'oip', reach: { address, options: {} }, model: { name, version: '' }, samples: SAMPLES };
  };

  test('gets made-up inputs of the types and sizes that it states', async () => {
    const records = await queried(targetAt(await serverWith('FP32', -1n)));
    assert.equal(records.length, 12);
    const failed = records.filter(({ error }) => error !== null);
    assert.deepEqual(
      failed.map(({ error }) => error),
      ['the tenth fails'],
    );
    for (const { startedMs, batch, sentMs, finishedMs } of records) {
      assert.deepEqual([startedMs, batch], [null, null]);
      assert.ok(sentMs < finishedMs);
    }
    for (const { inputs, rawInputContents } of requests) {
      const [input] = inputs;
      assert.deepEqual([input?.name, input?.datatype], ['x', 'FP32']);
      const [samples = 0n, ...rest] = input?.shape ?? [];
      assert.deepEqual(rest, [3n, 1n]);
      assert.equal(rawInputContents[0]?.length, Number(samples) * 3 * 4);
    }
    assert.deepEqual(new Set(requests.map(({ inputs }) => inputs[0]?.shape[0])), new Set([1n, 2n]));
  });

  test('may be away for a minute: its queries fail, and the trial goes on', async () => {
    let nowMs = 0;
    let code: 'unavailable' | 'unauthenticated' | undefined;
    const target = unaryTarget(
      () => (code === undefined ? Promise.resolve() : Promise.reject(new PlatformError(code, 'no answer'))),
      () => nowMs,
    );
    const answerAt = async (ms: number, failure?: typeof code): Promise<boolean | undefined> => {
      [nowMs, code] = [ms, failure];
      return new Promise((resolve) => target.send(1, ({ isLast }) => resolve(isLast)));
    };
    assert.equal(await answerAt(0, 'unavailable'), false);
    assert.equal(await answerAt(59_000, 'unavailable'), false);
    assert.equal(await answerAt(60_000), undefined);
    assert.equal(await answerAt(119_000, 'unavailable'), false);
    assert.equal(await answerAt(180_000, 'unavailable'), true);
    assert.equal(await answerAt(181_000), undefined);
    assert.equal(await answerAt(182_000, 'unauthenticated'), true);
  });

  test('is refused where its inputs cannot be made up', async () => {
    await assert.rejects(queried(targetAt(await serverWith('BYTES', -1n))), /input x has the type BYTES/);
    await assert.rejects(
      queried(targetAt(await serverWith('FP32', 4n))),
      /fixed batch of 4; send queries of that size/,
    );
    await assert.rejects(queried(targetAt(await serverWith('FP32', -1n), 'other')), /no model other/);
    await assert.rejects(queried(targetAt('127.0.0.1:1')), /the inference server at 127.0.0.1:1 does not answer/);
  });
});

describe("the platform's own Predict", () => {
  const agent = agentForSuite({ resolveModel: predictionModels() });

  test('answers queries of synthetic elements', async () => {
    const [reach] = agent().client.reaches?.() ?? [];
    assert.ok(reach);
    const records = await queried({ kind: 'predict', reach, model: { name: 'relu', version: '' }, samples: SAMPLES });
    assert.deepEqual(
      records.filter(({ error }) => error !== null),
      [],
    );
    assert.equal(records.length, 12);
  });
});
