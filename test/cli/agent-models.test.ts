import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { describe, it, test, type TestContext } from 'node:test';
import { RegistryService } from '../../src/generated/carml/org/dlframework/registry.js';
import { predictClient } from '../agent/support/predict-client.js';
import { registryServer } from '../directory/support/registry-server.js';
import { md5, olderManifest, TINY_GRAPH } from '../fetch/support/older-manifest.js';
import { deadline } from './support/command.js';
import { workplaceHere } from './support/workplace-here.js';

const MODEL = `    graph_path: tiny.onnx\n    graph_checksum: ${md5(TINY_GRAPH)}`;

/** A classifier of pictures whose labels are at an address. */
const PICTURES = olderManifest(MODEL, '>=1.0.0', 'Pictures')
  .replace('type: general', 'type: image')
  .replace('dimensions: [-1, 2]', 'layout: HWC\n          dimensions: [3, 8, 8]')
  .replace('probabilities_layer: y', 'probabilities_layer: y\n        features_url: https://labels.invalid/synset.txt');

/** An agent that is registered with a server and has a folder of manifests, some of them wrong. */
async function agentWithModels(t: TestContext) {
  const place = await workplaceHere(t);
  const { client, address: server } = await registryServer(t);
  await mkdir(place.path('models'));
  await place.write('models/tiny.onnx', TINY_GRAPH);
  await place.write('models/good.yml', olderManifest(MODEL));
  await place.write('models/newer.yml', olderManifest(MODEL).replace('version: 1.0 ', 'version: 1.10 '));
  await place.write('models/pictures.yml', PICTURES);
  await place.write('models/hidden.yml', `${olderManifest(MODEL, '>=1.0.0', 'Hidden')}hide: true\n`);
  await place.write('models/bad.yml', 'name: [\n');
  await place.write(
    'models/missing.yml',
    olderManifest('    graph_path: https://store.invalid/net.onnx', '*', 'Missing'),
  );
  await place.write('models/other.yml', olderManifest(MODEL, '>=1.0.0', 'Other').replace('Onnxruntime', 'MXNet'));
  const agent = place.start(['agent', '--listen', '127.0.0.1:0', '--models', 'models', '--server', server]);
  const [, address = ''] = await agent.said(/^agent listening on (\S+)\n/);
  await agent.said(/registered with/);
  return { place, server, client, address, agent };
}

test('a server without agents has no models, and the message says how one gets there', async (t) => {
  const place = await workplaceHere(t);
  const { address } = await registryServer(t);
  const { stderr, code } = await place.run(['registry', 'models', '--server', address]);
  assert.deepEqual(
    [code, stderr.split('\n')[0]],
    [2, 'no registered agent offers a model; `mlmodelscope agent --server ADDRESS` registers one'],
  );
});

describe('the models of an agent', { ...deadline, concurrency: 2 }, () => {
  it('are announced with their types, layouts, labels and checksums', async (t) => {
    const { place, server, client, address } = await agentWithModels(t);
    const request = { frameworkName: '*', frameworkVersion: 'latest', modelName: 'pictures', modelVersion: '*' };
    const { manifests } = await client.unary(RegistryService.modelManifests, request, { deadlineMs: 5000 });
    const [pictures] = manifests;
    assert.equal(pictures?.name, 'Pictures');
    assert.deepEqual(
      pictures.inputs[0]?.parameters,
      Object.fromEntries(
        Object.entries({ element_type: 'float32', input_layer: 'x', layout: 'HWC', dimensions: '[3,8,8]' }).map(
          ([name, value]) => [name, { value }],
        ),
      ),
    );
    assert.deepEqual([pictures.inputs[0]?.type, pictures.output?.type], ['image', 'classification']);
    assert.equal(pictures.output?.parameters['features_url']?.value, 'https://labels.invalid/synset.txt');
    assert.equal(pictures.model?.graphChecksum, md5(TINY_GRAPH));

    const { stdout } = await place.run(['registry', 'models', '--server', server, '--json']);
    const listed = JSON.parse(stdout) as readonly { name: string; graph_checksum: string; agents: string[] }[];
    const own = listed.filter(({ agents, graph_checksum: checksum }) => agents.includes(address) && checksum !== '');
    assert.deepEqual(
      own.map(({ name }) => name),
      ['Pictures', 'Tiny-Net v1', 'Tiny-Net v1'],
    );
    assert.ok(listed.some(({ name }) => name === 'resnet18'));
    const piped = await place.run(['registry', 'models', '--server', server]);
    assert.match(piped.stdout, /^Pictures\t1\.0\tOnnxruntime >=1\.0\.0\t\timage float32 HWC \[3,8,8\]\t/m);
  });

  it('are found by names as people write them, and by latest', async (t) => {
    const { client, address } = await agentWithModels(t);
    const found = async (modelName: string, modelVersion: string): Promise<readonly string[]> => {
      const request = { frameworkName: 'ONNX Runtime', frameworkVersion: '*', modelName, modelVersion };
      const { manifests } = await client.unary(RegistryService.modelManifests, request, { deadlineMs: 5000 });
      const { agents } = await client.unary(RegistryService.modelAgents, request, { deadlineMs: 5000 });
      assert.equal(agents.length, 1);
      return manifests.map(({ name, version }) => `${name} ${version}`);
    };
    assert.deepEqual(await found('tiny net_V1', ''), ['Tiny-Net v1 1.0', 'Tiny-Net v1 1.10']);
    assert.deepEqual(await found('tiny_net_v1', 'latest'), ['Tiny-Net v1 1.10']);
    assert.deepEqual(await found('tiny_net_v1', '1.0'), ['Tiny-Net v1 1.0']);
    assert.deepEqual(await found('hidden', '*'), []);
    const predictions = predictClient(address);
    t.after(() => predictions.close());
    const id = await predictions.open('TINY NET-v1');
    await predictions.closeModel(id);
  });

  it('that cannot be opened give a warning each at the start, and the others are offered', async (t) => {
    const { agent, address } = await agentWithModels(t);
    const predictions = predictClient(address);
    t.after(() => predictions.close());
    await assert.rejects(predictions.open('missing'), /`mlmodelscope models fetch models\/missing\.yml`/);
    await assert.rejects(
      predictions.open('nothing'),
      /no model nothing; 'mlmodelscope .*; its folder has .*Pictures 1\.0\.0; 1 manifest of its folder has/,
    );
    agent.process.kill('SIGINT');
    const { stderr } = await agent.ended;
    assert.deepEqual(
      stderr
        .trimEnd()
        .split('\n')
        .map((line) => /^warning: not offered: (models\/\w+\.yml):/.exec(line)?.[1]),
      ['models/bad.yml', 'models/missing.yml', 'models/other.yml'],
    );
    assert.match(stderr, /models\/other\.yml: model Other: expected mxnet >=1\.0\.0, found onnxruntime/);
    assert.match(stderr, /models\/missing\.yml:\d+:\d+: .*`mlmodelscope models fetch models\/missing\.yml`/);
  });

  it('that a registration has no room for are counted', async (t) => {
    const place = await workplaceHere(t);
    const { address: server } = await registryServer(t);
    await mkdir(place.path('models'));
    await place.write('models/tiny.onnx', TINY_GRAPH);
    await place.write('models/long.yml', olderManifest(MODEL).replace('tiny network', 'long '.repeat(1000)));
    const agent = place.start(['agent', '--listen', '127.0.0.1:0', '--models', 'models', '--server', server]);
    await agent.said(/^warning: the registration does not list 1 model, for lack of room; clients can open all/m);
  });

  it('without a folder are an error at the start', async (t) => {
    const { stderr, code } = await (await workplaceHere(t)).run(['agent', '--listen', '127.0.0.1:0', '--models', 'no']);
    assert.match(stderr, /the folder of model manifests cannot be read: .*no/);
    assert.equal(code, 2);
  });
});
