import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { type ModelRequest, RegistryService } from '../../src/generated/carml/org/dlframework/registry.js';
import { ZOO } from '../../src/zoo/zoo.js';
import { INHERITED_NAMES } from '../base/inherited-names.js';
import { assertRefused } from '../rpc/support/refusal.js';
import { platformModels } from './support/models.js';
import { offer } from './support/offer.js';
import { registryServer } from './support/registry-server.js';

const { frameworkManifests, frameworkAgents, modelManifests, modelAgents } = RegistryService;

const deadlineMs = 5000;

const ANY: ModelRequest = { frameworkName: '', frameworkVersion: '', modelName: '', modelVersion: '' };

/** Three agents: two of one framework in different versions, one of another framework. Only the first has models. */
async function threeAgents(t: TestContext) {
  const { directory, client } = await registryServer(t);
  const models = await platformModels();
  directory.register(offer({ address: '10.0.0.1:7070', frameworkVersion: '1.30.0', models }));
  directory.register(offer({ address: '10.0.0.2:7070', frameworkVersion: '1.19.2', architecture: 'arm64' }));
  directory.register(offer({ address: '[fd00::3]:7070', framework: 'onnxruntime-web', frameworkVersion: '1.30.0' }));
  return {
    frameworks: async (request: Partial<ModelRequest>) => {
      const { manifests } = await client.unary(frameworkManifests, { ...ANY, ...request }, { deadlineMs });
      return manifests.map(({ name, version }) => `${name} ${version}`);
    },
    agents: (request: Partial<ModelRequest>) => client.unary(frameworkAgents, { ...ANY, ...request }, { deadlineMs }),
    models: async (request: Partial<ModelRequest>) =>
      (await client.unary(modelManifests, { ...ANY, ...request }, { deadlineMs })).manifests,
    modelAgents: (request: Partial<ModelRequest>) => client.unary(modelAgents, { ...ANY, ...request }, { deadlineMs }),
  };
}

describe('the platform’s registry', { timeout: 30_000 }, () => {
  test('lists each framework and version once', async (t) => {
    const { frameworks } = await threeAgents(t);
    assert.deepEqual(await frameworks({}), ['onnxruntime 1.19.2', 'onnxruntime 1.30.0', 'onnxruntime-web 1.30.0']);
  });

  for (const [name, request, expected] of [
    ['a name', { frameworkName: 'onnxruntime' }, ['onnxruntime 1.19.2', 'onnxruntime 1.30.0']],
    ['a name as people write it', { frameworkName: 'ONNX Runtime Web' }, ['onnxruntime-web 1.30.0']],
    ['a range of versions', { frameworkVersion: '^1.20' }, ['onnxruntime 1.30.0', 'onnxruntime-web 1.30.0']],
    ['both', { frameworkName: 'onnxruntime', frameworkVersion: '<1.20' }, ['onnxruntime 1.19.2']],
    ['a framework without an agent', { frameworkName: 'mxnet' }, []],
  ] as const) {
    test(`finds frameworks by ${name}`, async (t) => {
      assert.deepEqual(await (await threeAgents(t)).frameworks(request), expected);
    });
  }

  test('gives agents in the form of the contract', async (t) => {
    const { agents } = await (await threeAgents(t)).agents({ frameworkVersion: '1.30.0' });
    assert.deepEqual(
      agents.map(({ host, port }) => [host, port]),
      [
        ['10.0.0.1', '7070'],
        ['fd00::3', '7070'],
      ],
    );
    const [agent] = agents;
    assert.deepEqual(agent?.frameworks, [{ name: 'onnxruntime', version: '1.30.0', container: {} }]);
    assert.deepEqual(
      [agent?.architecture, agent?.hostname, agent?.cpuinfo, agent?.hasgpu],
      ['amd64', 'bench-1', 'AMD EPYC 9654 96-Core Processor', false],
    );
    assert.equal(agent?.metadata['cores'], '4');
  });

  test('gives models with their manifest, every parameter a text', async (t) => {
    const { models } = await threeAgents(t);
    assert.equal((await models({})).length, ZOO.length);
    const [model] = await models({ modelName: 'resnet18' });
    assert.equal(model?.version, '1.0.0');
    assert.deepEqual(model?.framework, { name: 'onnxruntime', version: '1.30.0', container: {} });
    assert.deepEqual(model?.inputs[0]?.parameters, {
      input_layer: { value: 'input' },
      element_type: { value: 'float32' },
      layout: { value: 'CHW' },
      color_mode: { value: 'RGB' },
      dimensions: { value: '[3,224,224]' },
      mean: { value: '[123.675,116.28,103.53]' },
      scale: { value: '[58.395,57.12,57.375]' },
    });
    assert.equal(model?.model?.graphPath, 'zoo:resnet18');
    assert.deepEqual(model?.reference, ['https://arxiv.org/abs/1512.03385']);
  });

  test('lists a model once for each of its frameworks', async (t) => {
    const { directory, client } = await registryServer(t);
    const [model = assert.fail()] = await platformModels();
    for (const [port, framework] of ['onnxruntime', 'onnxruntime-web', 'onnxruntime'].entries()) {
      const models = [{ ...model, framework: { name: framework, version: '1.30.0', container: {} } }];
      directory.register(offer({ address: `10.0.0.1:${7070 + port}`, framework, models }));
    }
    const frameworks = async (request: Partial<ModelRequest>) => {
      const { manifests } = await client.unary(modelManifests, { ...ANY, ...request }, { deadlineMs });
      return manifests.map(({ framework }) => framework?.name);
    };
    assert.deepEqual(await frameworks({}), ['onnxruntime', 'onnxruntime-web']);
    assert.deepEqual(await frameworks({ frameworkName: 'onnxruntime-web' }), ['onnxruntime-web']);
  });

  test('finds models by the versions of model and framework', async (t) => {
    const { models } = await threeAgents(t);
    assert.equal((await models({ modelName: 'resnet18', modelVersion: '1.x' })).length, 1);
    assert.equal((await models({ modelName: 'resnet18', modelVersion: '>=2' })).length, 0);
    assert.equal((await models({ frameworkVersion: '<1.20' })).length, 0);
  });

  test('gives the agents that have a model', async (t) => {
    const { agents } = await (await threeAgents(t)).modelAgents({ modelName: 'resnet18' });
    assert.deepEqual(
      agents.map(({ host }) => host),
      ['10.0.0.1'],
    );
  });

  test('refuses an invalid constraint', async (t) => {
    const { frameworks, models } = await threeAgents(t);
    await assertRefused(frameworks({ frameworkVersion: 'newest' }), 'usage', /framework_version: "newest"/);
    await assertRefused(models({ modelVersion: 'x'.repeat(10_000) }), 'usage', /model_version/);
  });

  test('lists agents with any name of their architecture', async (t) => {
    const { directory, client } = await registryServer(t);
    for (const [i, architecture] of INHERITED_NAMES.entries()) {
      directory.register(offer({ address: `10.0.0.${i + 1}:7070`, architecture }));
    }
    const { agents } = await client.unary(frameworkAgents, ANY, { deadlineMs });
    assert.deepEqual(new Set(agents.map(({ architecture }) => architecture)), new Set(INHERITED_NAMES));
  });
});
