import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PlatformError } from '../../../src/base/errors.js';
import { createDirectory, type RegisteredAgent } from '../../../src/directory/agent-directory.js';
import { ModelManifest } from '../../../src/generated/carml/org/dlframework/registry.js';
import { PredictorOpenRequest } from '../../../src/generated/mlmodelscope/org/dlframework/predictor.js';
import { hasModel, modelInWords, unmetBy } from '../../../src/server/prediction/choose-agent.js';
import { offer } from '../../directory/support/offer.js';
import { refusal } from '../../rpc/support/refusal.js';

const ADDRESS = '10.0.0.1:7070';

function agentWith(changes: Partial<RegisteredAgent> = {}): RegisteredAgent {
  const directory = createDirectory({ leaseMs: Infinity });
  const models = [ModelManifest.fromPartial({ name: 'ReLU', version: '1.2.0' })];
  directory.register(offer({ address: ADDRESS, models, frameworkVersion: '1.30.0-dev.1', ...changes }));
  return directory.list()[0] ?? assert.fail();
}

const request = (changes: object = {}): PredictorOpenRequest =>
  PredictorOpenRequest.fromPartial({ modelName: 'relu', ...changes });

/** The reasons why the agent does not fit. */
function problemsOf(changes: object, failed: ReadonlyMap<string, PlatformError> = new Map()): readonly string[] {
  return unmetBy(request(changes), failed)(agentWith()).map(({ problem }) => problem);
}

test('an agent fits if it has the model in a version that is asked for, whatever the case of its name', () => {
  for (const modelVersion of ['', '1.2.0', '^1.0.0', '>=1.2']) {
    assert.equal(hasModel(request({ modelVersion }))(agentWith()), true, modelVersion);
    assert.deepEqual(problemsOf({ modelVersion }), []);
  }
  for (const changes of [{ modelVersion: '^2' }, { modelName: 'relu6' }])
    assert.equal(hasModel(request(changes))(agentWith()), false);
  assert.deepEqual(problemsOf({ modelVersion: '^2' }), ['it does not have the model "relu" ^2']);
  assert.deepEqual(problemsOf({ modelName: 'other' }), ['it does not have the model "other"']);
  assert.equal(hasModel(request())(agentWith({ models: [] })), false);
});

test('an agent fits if it has the framework in a version that is asked for, previews included', () => {
  for (const changes of [
    { frameworkName: 'ONNX Runtime' },
    { frameworkName: 'onnxruntime', frameworkVersion: '>=1.20' },
    { frameworkVersion: '^1.20' },
    {},
  ])
    assert.deepEqual(problemsOf(changes), [], JSON.stringify(changes));
  for (const [changes, expected] of [
    [{ frameworkName: 'TensorFlow' }, 'TensorFlow of any version'],
    [{ frameworkVersion: '^2' }, 'a framework ^2'],
    [{ frameworkName: 'ONNX Runtime', frameworkVersion: '^2' }, 'ONNX Runtime ^2'],
    [{ frameworkName: 'TensorFlow', frameworkVersion: '^1.20' }, 'TensorFlow ^1.20'],
  ] as const)
    assert.deepEqual(problemsOf(changes), [`expected ${expected}, found onnxruntime 1.30.0-dev.1`]);
});

test('an agent fits if it is the one that is asked for, and has not failed before', () => {
  assert.deepEqual(problemsOf({ options: { agent: ADDRESS } }), []);
  assert.deepEqual(problemsOf({ options: { agent: '10.0.0.2:1' } }), ['expected the agent "10.0.0.2:1"']);
  const failed = new Map([[ADDRESS, new PlatformError('unavailable', 'it does not answer')]]);
  assert.deepEqual(problemsOf({}, failed), ['it does not answer']);
  assert.deepEqual(problemsOf({}, new Map([['10.0.0.2:1', new PlatformError('unavailable', 'x')]])), []);
});

test('an agent that does not fit for several reasons has all of them', () => {
  const options = { agent: '10.0.0.2:1' };
  assert.equal(problemsOf({ modelName: 'other', frameworkVersion: '^2', options }).length, 3);
});

test('a request without a model, or with versions that are none, is refused', () => {
  const unmet = (changes: object) => () => unmetBy(request(changes), new Map());
  assert.throws(unmet({ modelName: '' }), refusal('usage', /^model_name is empty$/));
  assert.throws(unmet({ modelVersion: 'new' }), refusal('usage', /^model_version: "new"/));
  assert.throws(unmet({ frameworkVersion: 'new' }), refusal('usage', /^framework_version: "new"/));
});

test('a model is named with its version, if it has one', () => {
  assert.equal(modelInWords(request()), '"relu"');
  assert.equal(modelInWords(request({ modelVersion: '^1' })), '"relu" ^1');
});
