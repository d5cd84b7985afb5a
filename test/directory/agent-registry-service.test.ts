import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type ModelManifest, RegistryService } from '../../src/generated/carml/org/dlframework/registry.js';
import { type Agent, AgentRegistryServiceService } from '../../src/generated/mlmodelscope/registry/v1/registry.js';
import { toWireAgent } from '../../src/directory/agent-wire.js';
import { listAgents as listAll } from '../../src/directory/list-agents.js';
import { rawClient } from '../agent/support/raw-client.js';
import { assertRefused } from '../rpc/support/refusal.js';
import { platformModels } from './support/models.js';
import { offer } from './support/offer.js';
import { registryServer } from './support/registry-server.js';

const { modelManifests } = RegistryService;

const ANY_MODEL = { frameworkName: '', frameworkVersion: '', modelName: '', modelVersion: '' };

const { registerAgent, renewAgent, unregisterAgent, listAgents } = AgentRegistryServiceService;

const deadlineMs = 5000;

const MODEL_FILE = {
  baseUrl: '',
  weightsPath: '',
  graphPath: '',
  isArchive: false,
  weightsChecksum: '',
  graphChecksum: '',
};

async function someModel(): Promise<ModelManifest> {
  const [model = assert.fail()] = await platformModels();
  return model;
}

/** Models that differ, each with a few kilobytes of description. */
async function largestModels(count: number): Promise<ModelManifest[]> {
  const model = { ...(await someModel()), inputs: [], output: undefined };
  const description = 'd'.repeat(4000);
  return Array.from({ length: count }, (_, i) => ({ ...model, name: `model-${i}`, description }));
}

describe('the registration of agents', { timeout: 60_000 }, () => {
  test('keeps everything that an agent offers', async (t) => {
    const { client, directory } = await registryServer(t);
    const models = await platformModels();
    const said = offer({ models });
    await client.unary(registerAgent, { agent: toWireAgent(said), accessToken: 'secret' }, { deadlineMs });

    const [kept] = directory.list();
    const registered = { id: '', number: 0, registeredAt: '' };
    assert.deepEqual({ ...kept, ...registered }, { ...said, ...registered, accessToken: 'secret' });
  });

  test('lists agents without the ids of their leases, and without their tokens', async (t) => {
    const { client, directory } = await registryServer(t);
    const { id } = directory.register(offer(), { name: '', accessToken: 'only the platform knows it' });
    const { agents } = await client.unary(listAgents, { pageSize: 0, pageToken: '' }, { deadlineMs });
    assert.deepEqual(
      agents.map(({ address, cores }) => [address, cores]),
      [['10.0.0.1:7070', 4]],
    );
    assert.ok(agents[0]?.registeredAt instanceof Date);
    const text = JSON.stringify(agents, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
    for (const secret of [id, 'only the platform knows it']) assert.ok(!text.includes(secret));
  });

  test('a lease can be renewed and ended with its id', async (t) => {
    const { client, directory } = await registryServer(t);
    const { agentId } = await client.unary(
      registerAgent,
      { agent: toWireAgent(offer()), accessToken: '' },
      { deadlineMs },
    );
    await client.unary(renewAgent, { agentId }, { deadlineMs });
    await assertRefused(client.unary(renewAgent, { agentId: 'x' }, { deadlineMs }), 'not_found');
    await client.unary(unregisterAgent, { agentId: 'x' }, { deadlineMs });
    assert.equal(directory.list().length, 1);
    await client.unary(unregisterAgent, { agentId }, { deadlineMs });
    assert.equal(directory.list().length, 0);
  });

  const wrong: readonly [string, Partial<Agent>, RegExp][] = [
    ['no address', { address: '' }, /agent\.address/],
    ['an address without a port', { address: '10.0.0.1' }, /agent\.address/],
    ['port 0', { address: '10.0.0.1:0' }, /agent\.address/],
    ['an address of all interfaces', { address: '0.0.0.0:7070' }, /agent\.address/],
    ['a URL', { address: 'http://10.0.0.1:7070' }, /agent\.address/],
    ['an invalid framework', { framework: '../x' }, /agent\.framework/],
    ['an invalid version', { frameworkVersion: 'latest' }, /agent\.frameworkVersion/],
    ['no cores', { cores: 0 }, /agent\.cores/],
    ['no memory', { memoryBytes: 0n }, /agent\.memoryBytes/],
    ['a processor name that controls terminals', { processor: 'fast\u001b[2J' }, /agent\.processor/],
    ['a name that is too long', { hostname: 'h'.repeat(1000) }, /agent\.hostname/],
    ['the time of its registration', { registeredAt: new Date() }, /registered_at/],
  ];
  for (const [name, changes, message] of wrong) {
    test(`refuses ${name}`, async (t) => {
      const { client, directory } = await registryServer(t);
      const agent = { ...toWireAgent(offer()), ...changes };
      await assertRefused(client.unary(registerAgent, { agent, accessToken: '' }, { deadlineMs }), 'usage', message);
      assert.deepEqual(directory.list(), []);
    });
  }

  const description = 'd'.repeat(4001);
  const parameters = Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`p${i}`, { value: '' }]));
  const wrongModels: readonly [Partial<ModelManifest>, RegExp][] = [
    [{ name: 'a\nb' }, /models\.0\.name: not a line/],
    [{ description }, /models\.0\.description: more than 4000 characters/],
    [{ description: 'x\u009b2J' }, /models\.0\.description: not a text/],
    [{ inputs: [{ type: '', description: '', parameters }] }, /inputs\.0\.parameters: more than/],
    [{ reference: new Array<string>(65).fill('') }, /models\.0\.reference/],
    [{ preprocess: 'x'.repeat(20_001) }, /models\.0\.preprocess/],
    [{ model: { ...MODEL_FILE, graphChecksum: 'x'.repeat(301) } }, /model\.graphChecksum/],
    [{ attributes: { task: 'x'.repeat(4001) } }, /models\.0\.attributes/],
  ];
  test('refuses models whose fields are too long or control terminals', async (t) => {
    const { client, directory } = await registryServer(t);
    for (const [changes, message] of wrongModels) {
      const agent = toWireAgent(offer({ models: [{ ...(await someModel()), ...changes }] }));
      await assertRefused(client.unary(registerAgent, { agent, accessToken: '' }, { deadlineMs }), 'usage', message);
    }
    assert.deepEqual(directory.list(), []);
  });

  test('refuses an offer that is too large as a whole', async (t) => {
    const { client } = await registryServer(t);
    const models = await largestModels(250);
    const agent = toWireAgent(offer({ models }));
    const registered = client.unary(registerAgent, { agent, accessToken: '' }, { deadlineMs });
    await assertRefused(registered, 'usage', /agent: more than 1024 KiB; offer fewer models/);
  });

  test('takes a hundred agents with all models that come with the platform', async (t) => {
    const { directory } = await registryServer(t);
    const models = await platformModels();
    for (let port = 1; port <= 100; port++) directory.register(offer({ address: `10.0.0.1:${port}`, models }));
    assert.equal(directory.list().length, 100);
  });

  test('refuses an empty request, and models without a name', async (t) => {
    const { client } = await registryServer(t);
    await assertRefused(client.unary(registerAgent, { agent: undefined, accessToken: '' }, { deadlineMs }), 'usage');
    const [model = assert.fail()] = await platformModels();
    const agent = toWireAgent(offer({ models: [{ ...model, name: '' }] }));
    await assertRefused(client.unary(registerAgent, { agent, accessToken: '' }, { deadlineMs }), 'usage', /models/);
  });
});

describe('the list of agents', { timeout: 60_000 }, () => {
  test('comes in pages that every client of gRPC takes, in the order of registration', async (t) => {
    const { address, directory } = await registryServer(t);
    // 40 models of 5 kB each: 15 such agents fit in a page.
    const models = await largestModels(40);
    const ports = Array.from({ length: 100 }, (_, i) => i + 1);
    for (const port of ports) directory.register(offer({ address: `10.0.0.1:${port}`, models }));
    const small = rawClient(address);
    t.after(() => small.close());
    const listed: string[] = [];
    let pageToken = '';
    do {
      const page = await small.unary(listAgents, { pageSize: 0, pageToken });
      listed.push(...page.agents.map((agent) => agent.address));
      pageToken = page.nextPageToken;
      assert.ok(page.agents.length < 20);
    } while (pageToken !== '');
    assert.deepEqual(
      listed,
      ports.map((port) => `10.0.0.1:${port}`),
    );
    const whole = await listAll(address);
    assert.deepEqual(whole.length, 100);
    assert.deepEqual(whole[99]?.models.length, 40);
  });

  test('has as many agents on a page as asked for, and skips agents that have left', async (t) => {
    const { client, directory } = await registryServer(t);
    const ids = [1, 2, 3, 4].map((port) => directory.register(offer({ address: `10.0.0.1:${port}` })).id);
    const first = await client.unary(listAgents, { pageSize: 2, pageToken: '' }, { deadlineMs });
    directory.unregister(ids[1] ?? '');
    directory.unregister(ids[2] ?? '');
    const second = await client.unary(listAgents, { pageSize: 2, pageToken: first.nextPageToken }, { deadlineMs });
    assert.deepEqual(
      [first, second].map(({ agents }) => agents.map(({ address }) => address)),
      [['10.0.0.1:1', '10.0.0.1:2'], ['10.0.0.1:4']],
    );
    assert.equal(second.nextPageToken, '');
    const strange = client.unary(listAgents, { pageSize: 2, pageToken: 'x' }, { deadlineMs });
    await assertRefused(strange, 'usage', /page_token/);
  });

  test('still works when agents have offered as much as the directory takes', async (t) => {
    const { client, directory, address } = await registryServer(t);
    const models = await largestModels(40);
    let registered = 0;
    const fill = async (): Promise<never> => {
      for (let port = 1; ; port++) {
        const agent = toWireAgent(offer({ address: `10.0.0.1:${port}`, models }));
        await client.unary(registerAgent, { agent, accessToken: '' }, { deadlineMs });
        registered++;
      }
    };
    await assertRefused(fill(), 'exhausted', /would take more than 48 MiB/);
    assert.equal((await listAll(address)).length, registered);
    // An agent that is already registered may register again.
    directory.register(offer({ address: '10.0.0.1:1', models }));
    const { manifests } = await client.unary(modelManifests, ANY_MODEL, { deadlineMs });
    assert.equal(manifests.length, 40);
  });
});
