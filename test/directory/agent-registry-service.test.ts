import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Agent, AgentRegistryServiceService } from '../../src/generated/mlmodelscope/registry/v1/registry.js';
import { toWireAgent } from '../../src/directory/agent-wire.js';
import { modelsFor } from '../../src/registry/built-in-models.js';
import { refusal } from '../rpc/support/refusal.js';
import { offer } from './support/offer.js';
import { registryServer } from './support/registry-server.js';

const { registerAgent, renewAgent, unregisterAgent, listAgents } = AgentRegistryServiceService;

const deadlineMs = 5000;

describe('the registration of agents', { timeout: 20_000 }, () => {
  test('keeps everything that an agent says', async (t) => {
    const { client, directory } = await registryServer(t);
    const models = await modelsFor({ framework: 'onnxruntime', frameworkVersion: '1.30.0' });
    const said = offer({ models });
    await client.unary(registerAgent, { agent: toWireAgent(said) }, { deadlineMs });

    const [kept] = directory.list();
    assert.deepEqual({ ...kept, id: '', registeredAt: '' }, { ...said, id: '', registeredAt: '' });
  });

  test('lists agents without the names of their leases', async (t) => {
    const { client, directory } = await registryServer(t);
    const { id } = directory.register(offer());
    const { agents } = await client.unary(listAgents, {}, { deadlineMs });
    assert.deepEqual(
      agents.map(({ address, cores }) => [address, cores]),
      [['10.0.0.1:7070', 4]],
    );
    assert.ok(agents[0]?.registeredAt instanceof Date);
    assert.ok(
      !JSON.stringify(agents, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)).includes(id),
    );
  });

  test('a lease can be renewed and ended by whoever knows its name', async (t) => {
    const { client, directory } = await registryServer(t);
    const { agentId } = await client.unary(registerAgent, { agent: toWireAgent(offer()) }, { deadlineMs });
    await client.unary(renewAgent, { agentId }, { deadlineMs });
    await assert.rejects(client.unary(renewAgent, { agentId: 'x' }, { deadlineMs }), refusal('not_found'));
    await client.unary(unregisterAgent, { agentId: 'x' }, { deadlineMs });
    assert.equal(directory.list().length, 1);
    await client.unary(unregisterAgent, { agentId }, { deadlineMs });
    assert.equal(directory.list().length, 0);
  });

  const wrong: readonly [string, Partial<Agent>, RegExp][] = [
    ['no address', { address: '' }, /agent\.address/],
    ['an address without a port', { address: '10.0.0.1' }, /agent\.address/],
    ['port 0', { address: '10.0.0.1:0' }, /agent\.address/],
    ['an address of every machine', { address: '0.0.0.0:7070' }, /agent\.address/],
    ['a URL', { address: 'http://10.0.0.1:7070' }, /agent\.address/],
    ['a framework that is none', { framework: '../x' }, /agent\.framework/],
    ['a version that is none', { frameworkVersion: 'latest' }, /agent\.frameworkVersion/],
    ['no cores', { cores: 0 }, /agent\.cores/],
    ['no memory', { memoryBytes: 0n }, /agent\.memoryBytes/],
    ['a processor that writes to terminals', { processor: 'fast\u001b[2J' }, /agent\.processor/],
    ['a name without end', { hostname: 'h'.repeat(1000) }, /agent\.hostname/],
    ['the time of its registration', { registeredAt: new Date() }, /registered_at/],
  ];
  for (const [name, changes, message] of wrong) {
    test(`refuses ${name}`, async (t) => {
      const { client, directory } = await registryServer(t);
      const agent = { ...toWireAgent(offer()), ...changes };
      await assert.rejects(client.unary(registerAgent, { agent }, { deadlineMs }), refusal('usage', message));
      assert.deepEqual(directory.list(), []);
    });
  }

  test('refuses an empty request, and models without a name', async (t) => {
    const { client } = await registryServer(t);
    await assert.rejects(client.unary(registerAgent, { agent: undefined }, { deadlineMs }), refusal('usage'));
    const [model = assert.fail()] = await modelsFor({ framework: 'onnxruntime', frameworkVersion: '1.30.0' });
    const agent = toWireAgent(offer({ models: [{ ...model, name: '' }] }));
    await assert.rejects(client.unary(registerAgent, { agent }, { deadlineMs }), refusal('usage', /models/));
  });
});
