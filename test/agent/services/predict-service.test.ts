import { status } from '@grpc/grpc-js';
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import {
  ExecutionOptions,
  ImagesRequest,
  PredictionOptions,
  PredictorCloseRequest,
  PredictorOpenRequest,
  PredictService,
  ResetRequest,
} from '../../../src/generated/mlmodelscope/org/dlframework/predictor.js';
import {
  DescribePredictorRequest,
  PredictionServiceService,
} from '../../../src/generated/mlmodelscope/prediction/v1/prediction.js';
import { predictionModels } from '../support/prediction-models.js';
import { exists, measuringProcessesOf, needsLinux } from '../support/processes.js';
import { until } from '../../support/until.js';
import { assertStatus, hasStatus, type RawClient, rawClient } from '../support/raw-client.js';
import { agentForSuite } from '../support/running-agent.js';
import { longProtocol, relu, runOptions } from '../support/tiny-benchmarks.js';
import { measureOne } from '../support/measure-one.js';

describe('opening models', { timeout: 300_000 }, () => {
  const agent = agentForSuite({ resolveModel: predictionModels() });
  let client: RawClient;
  const opened: string[] = [];
  before(() => {
    client = rawClient(agent().address);
  });
  after(() => client.close());

  function closeModel(id: string) {
    return client.unary(PredictService.close, PredictorCloseRequest.fromPartial({ predictor: { id } }));
  }

  async function openModel(request: Partial<PredictorOpenRequest>): Promise<string> {
    const { id } = await client.unary(PredictService.open, PredictorOpenRequest.fromPartial(request));
    opened.push(id);
    return id;
  }

  afterEach(async () => {
    await Promise.all(opened.splice(0).map((id) => closeModel(id).catch(() => {})));
  });

  test('a model that is open can be closed, once', async () => {
    const id = await openModel({ modelName: 'relu', modelVersion: '1.0.0' });

    assert.ok((await closeModel(id)).duration);
    await assertStatus(closeModel(id), status.NOT_FOUND, /no model is open/);
  });

  test('a request that names no open model is refused with the name of the field', async () => {
    const { images, close, reset } = PredictService;
    const empty = hasStatus(status.INVALID_ARGUMENT, /predictor\.id is empty; `Open` gives the id/);
    await assert.rejects(client.unary(images, ImagesRequest.fromPartial({})), empty);
    await assert.rejects(client.unary(images, ImagesRequest.fromPartial({ predictor: {} })), empty);
    await assert.rejects(client.unary(close, PredictorCloseRequest.fromPartial({})), empty);
    await assert.rejects(client.unary(reset, ResetRequest.fromPartial({})), empty);
    const describePredictor = DescribePredictorRequest.fromPartial({});
    await assert.rejects(client.unary(PredictionServiceService.describePredictor, describePredictor), empty);
  });

  test('each open model has a process, which closing ends', { skip: needsLinux }, async () => {
    const before = measuringProcessesOf(process.pid).length;
    const first = await openModel({ modelName: 'relu' });
    await openModel({ modelName: 'classifier' });
    const whileOpen = measuringProcessesOf(process.pid).length;
    await closeModel(first);

    assert.deepEqual([whileOpen - before, measuringProcessesOf(process.pid).length - before], [2, 1]);
  });

  test('a model whose process has ended is not open', { skip: needsLinux }, async () => {
    const before = measuringProcessesOf(process.pid);
    const id = await openModel({ modelName: 'relu' });
    const [pid] = measuringProcessesOf(process.pid).filter((candidate) => !before.includes(candidate));
    assert.ok(pid);
    process.kill(pid, 'SIGKILL');
    await until(() => !exists(pid));

    await assertStatus(closeModel(id), status.NOT_FOUND);
  });

  test('no more than eight models are open', async () => {
    for (let i = 0; i < 8; i++) await openModel({ modelName: 'relu' });
    await assertStatus(openModel({ modelName: 'relu' }), status.RESOURCE_EXHAUSTED, /8 models/);

    await closeModel(opened.pop() ?? '');
    await openModel({ modelName: 'relu' });
  });

  const timeoutInMs = (ms: bigint) => {
    const executionOptions: ExecutionOptions = { ...ExecutionOptions.create(), timeoutInMs: ms };
    return { ...PredictionOptions.create(), executionOptions };
  };

  test('opening stops at the time limit of the request', async () => {
    const asked = openModel({ modelName: 'endless', options: timeoutInMs(5n) });
    await assertStatus(asked, status.DEADLINE_EXCEEDED, /0.005 s/);
  });

  test('a constraint that the framework meets is accepted', async () => {
    await openModel({ modelName: 'relu', frameworkName: 'ONNX Runtime', frameworkVersion: '>=1.20 <2' });
  });

  const refused: readonly [string, Partial<PredictorOpenRequest>, status, RegExp][] = [
    ['an unknown model', { modelName: 'resnet' }, status.NOT_FOUND, /no model resnet/],
    ['an unknown version', { modelName: 'relu', modelVersion: '2.0.0' }, status.NOT_FOUND, /2\.0\.0/],
    ['no model', {}, status.INVALID_ARGUMENT, /model_name/],
    [
      'another framework',
      { modelName: 'relu', frameworkName: 'TensorFlow' },
      status.FAILED_PRECONDITION,
      /TensorFlow; this agent has onnxruntime/,
    ],
    [
      'another version of the framework',
      { modelName: 'relu', frameworkVersion: '^0.4' },
      status.FAILED_PRECONDITION,
      /\^0\.4; this agent has/,
    ],
    [
      'an invalid version constraint',
      { modelName: 'relu', frameworkVersion: 'newest' },
      status.INVALID_ARGUMENT,
      /^framework_version: "newest" is not a version constraint/,
    ],
    [
      'an invalid version constraint of a model',
      { modelName: 'relu', modelVersion: 'newest' },
      status.INVALID_ARGUMENT,
      /^model_version: "newest" is not a version constraint/,
    ],
    [
      'a missing device',
      {
        modelName: 'relu',
        options: {
          ...PredictionOptions.create(),
          executionOptions: { ...ExecutionOptions.create(), deviceCount: { GPU: 1 } },
        },
      },
      status.FAILED_PRECONDITION,
      /GPU/,
    ],
    ['a model that the runtime refuses', { modelName: 'broken' }, status.FAILED_PRECONDITION, /NoSuchOperator/],
    ['a name that is too long', { modelName: 'x'.repeat(2000) }, status.INVALID_ARGUMENT, /1024/],
  ];
  for (const [name, request, code, details] of refused) {
    test(`refuses ${name}`, async () => {
      await assertStatus(openModel(request), code, details);
    });
  }

  test('opening waits for a measurement to end', async () => {
    const controller = new AbortController();
    let opening: Promise<string> | undefined;
    let stopped = false;
    const measuring = measureOne(agent().client, relu, runOptions, longProtocol, {
      signal: controller.signal,
      onProgress({ runsDone }) {
        if (runsDone === 0) return;
        opening ??= openModel({ modelName: 'relu' }).then((id) => {
          assert.ok(stopped);
          return id;
        });
        setTimeout(() => {
          stopped = true;
          controller.abort();
        }, 500);
      },
    });
    await assert.rejects(measuring);
    await opening;
  });
});
