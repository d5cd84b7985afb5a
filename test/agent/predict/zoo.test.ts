import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startAgent } from '../../../src/agent/services/server.js';
import { PlatformError } from '../../../src/base/errors.js';
import { InferenceSession, Tensor } from '../../../src/predictor/onnxruntime/library.js';
import { elementsOf } from '../../../src/predictor/tensor-value.js';
import { FRAMEWORKS } from '../../../src/predictor/frameworks.js';
import { preprocessImages } from '../../../src/processing/preprocess.js';
import type { RunningFramework } from '../../../src/registry/load-model.js';
import { resolvePredictionModel } from '../../../src/registry/resolve-prediction-model.js';
import { foundIn, type PredictClient, predictClient } from '../support/predict-client.js';
import { agentForSuite } from '../support/running-agent.js';

const ROOT = join(import.meta.dirname, '../../../..');
const NAME = 'squeezenet1.1';

const { name: framework, version: frameworkVersion } = FRAMEWORKS.onnxruntime.describe();
const RUNS_ON: RunningFramework = { framework, frameworkVersion, allowVersion: false };

/** The k classes of the highest probability, computed with the runtime alone. */
async function directly(bytes: Buffer, k: number): Promise<readonly { index: number; probability: number }[]> {
  const { path, inputs } = await resolvePredictionModel(NAME, '', { runsOn: RUNS_ON });
  const [input] = inputs;
  assert.ok(input?.steps);
  const tensor = await preprocessImages([{ id: '', bytes }], input.steps, input.elementType);
  const session = await InferenceSession.create(path, { intraOpNumThreads: availableParallelism() });
  const outputs = await session.run({ input: new Tensor('float32', elementsOf(tensor) as Float32Array, tensor.dims) });
  await session.release();
  const scores = outputs['output']?.data as Float32Array;
  const powers = Array.from(scores, (score) => Math.exp(score - Math.max(...scores)));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers
    .map((power, index) => ({ index, probability: power / sum }))
    .sort((a, b) => b.probability - a.probability)
    .slice(0, k);
}

describe('a model of the zoo', { timeout: 300_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'mlmodelscope-test-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const labels = Array.from({ length: 1000 }, (_, i) => `class ${i}`);
  before(() => {
    const manifest = readFileSync(join(ROOT, `manifests/models/${NAME}.yml`), 'utf8');
    const labelled = manifest
      .replace(`name: ${NAME}`, 'name: labelled')
      .replace('{ k: 5 }', '{ k: 3, labels: labels.txt }');
    writeFileSync(join(folder, 'labelled.yml'), labelled);
    writeFileSync(join(folder, 'labels.txt'), `${labels.join('\n')}\n`);
  });
  const agent = agentForSuite({
    resolveModel: (name, version) => resolvePredictionModel(name, version, { folder, runsOn: RUNS_ON }),
  });
  let client: PredictClient;
  before(() => {
    client = predictClient(agent().address);
  });
  after(() => client.close());
  const photo = readFileSync(join(ROOT, 'test/processing/fixtures/photo.jpg'));

  test('gives the same result as the runtime alone, each time', async () => {
    const id = await client.open(NAME);
    const [answer, again] = [await client.images(id, [photo]), await client.images(id, [photo])].map(foundIn);
    await client.closeModel(id);
    const found = (answer?.[0]?.features ?? []).map(({ feature, probability }) => {
      assert.ok(feature?.$case === 'classification');
      return { index: feature.value.index, probability };
    });
    const expected = await directly(photo, 5);

    assert.deepEqual(again, answer);
    assert.deepEqual(
      found.map(({ index }) => index),
      expected.map(({ index }) => index),
    );
    for (const [i, { probability }] of found.entries()) {
      assert.ok(Math.abs(probability - (expected[i]?.probability ?? 0)) < 1e-7, `${probability}`);
    }
  });

  test('gives nearly the same probabilities with another framework', async () => {
    const web = await startAgent({
      framework: 'onnxruntime-web',
      resolveModel: (name, version, own) => {
        const runsOn = { framework: own.name, frameworkVersion: own.version, allowVersion: false };
        return resolvePredictionModel(name, version, { runsOn });
      },
    });
    const there = predictClient(web.address);
    const [here, elsewhere] = await Promise.all(
      [client, there].map(async (one) => {
        const id = await one.open(NAME);
        const [found] = foundIn(await one.images(id, [photo]));
        return found?.features.map(({ probability }) => probability) ?? [];
      }),
    );
    there.close();
    await web.close();
    assert.equal(elsewhere?.length, 5);
    for (const [i, probability] of (here ?? []).entries()) {
      assert.ok(Math.abs(probability - (elsewhere[i] ?? 0)) < 1e-5);
    }
  });

  test('has labels where its manifest names a file of them', async () => {
    const id = await client.open('labelled');
    const { responses } = await client.images(id, [photo]);
    await client.closeModel(id);
    for (const { feature } of responses[0]?.features ?? []) {
      assert.ok(feature?.$case === 'classification');
      assert.equal(feature.value.label, `class ${feature.value.index}`);
    }
    assert.equal(responses[0]?.features.length, 3);
  });

  test('is found by a range that its version is within, as in the registry', async () => {
    const manifest = readFileSync(join(ROOT, `manifests/models/${NAME}.yml`), 'utf8');
    const early = manifest.replace(`name: ${NAME}`, 'name: early').replace('version: 1.0.0', 'version: 1.1.0-rc.1');
    writeFileSync(join(folder, 'early.yml'), early);
    await assert.doesNotReject(resolvePredictionModel('early', '^1', { folder, runsOn: RUNS_ON }));
    await assert.rejects(resolvePredictionModel('early', '^2', { folder, runsOn: RUNS_ON }), PlatformError);
  });

  test('missing labels are reported with the manifest', async () => {
    rmSync(join(folder, 'labels.txt'));
    await assert.rejects(
      resolvePredictionModel('labelled', '', { folder, runsOn: RUNS_ON }),
      (error) =>
        error instanceof PlatformError && /labelled\.yml.*labels: expected .*no such file/s.test(error.message),
    );
  });

  test('resolves a text model without processing steps, for synthetic datasets only', async () => {
    const { inputs, postprocessors, fixedBatchSize } = await resolvePredictionModel('bert_base', '1.0.0', {
      runsOn: RUNS_ON,
    });
    assert.deepEqual([postprocessors.size, fixedBatchSize], [0, undefined]);
    assert.deepEqual(
      inputs.map(({ dims, isBatched, steps }) => [dims, isBatched, steps]),
      Array.from({ length: 4 }, () => [[1, 128], true, undefined]),
    );
  });

  test('an unknown model is reported with the known ones', async () => {
    await assert.rejects(
      resolvePredictionModel('resnet18', '9.0.0', { runsOn: RUNS_ON }),
      (error) =>
        error instanceof PlatformError && error.message === 'no model resnet18 9.0.0; there are resnet18 1.0.0',
    );
  });
});
