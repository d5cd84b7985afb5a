import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { createDirectory } from '../../src/directory/agent-directory.js';
import { createFakeAgent, type FakeAgent } from '../support/fake-agent.js';
import { attachInBytes, fromWireRun, toWireRun } from '../../src/evaluation/link/run-wire.js';
import { servePlugin } from '../../src/evaluation/run/serve-plugin.js';
import { systemsResultIn } from '../../src/evaluation/systems-result.js';
import { AttachResponse } from '../../src/generated/mlmodelscope/evaluation/v1/plugin_service.js';
import { Platform } from '../../src/server/platform.js';
import { openMemoryStore } from '../../src/store/memory/open.js';
import { requestsFor } from '../agent/spread/requests.js';
import { memoryLink } from './memory-link.js';
import { AGENT, eventsOf, SOLE_LEASES, submitted } from './fake-platform.js';
import { scripted } from './scripted-evaluation.js';

const deadline = { timeout: 300_000 };
const ID = 'evaluation-1';

/** Measures some models. */
const measuring = scripted(async function* (_request, { agent, signal }) {
  let measured = 0;
  for await (const { index } of agent.measure(requestsFor(6), { signal })) measured += index >= 0 ? 1 : 0;
  yield { kind: 'estimate', model: 'four', latencyMs: measured, coverage: 1 };
  yield { kind: 'done', result: { measured }, partial: false };
});

/** A platform with agents at addresses, which have these processors. */
async function platformWith(t: TestContext, processors: Readonly<Record<string, string>>) {
  const store = await openMemoryStore();
  const directory = createDirectory({ leaseMs: Infinity });
  const agents = new Map<string, FakeAgent>();
  for (const [address, processor] of Object.entries(processors)) {
    directory.register({ ...AGENT, address, processor });
    agents.set(address, createFakeAgent({ latencyOf: () => 1, processor }));
  }
  const platform = await Platform.open({ store, agents: directory, leases: SOLE_LEASES }, { resume: false });
  t.after(() => platform.close());
  const link = memoryLink();
  void platform.attach(link.platform);
  const connect = ({ address }: { readonly address: string }): Promise<FakeAgent> =>
    Promise.resolve(agents.get(address) ?? assert.fail(address));
  void servePlugin(measuring, link.plugin, { store, connect });
  return { platform, agents };
}

const THREE = { '10.0.0.1:1': 'fast', '10.0.0.2:1': 'slow', '10.0.0.3:1': 'fast' };

describe('an evaluation on several agents', deadline, () => {
  it('gets all agents that fit its constraints, and names them', async (t) => {
    const { platform, agents } = await platformWith(t, THREE);
    await platform.submit(ID, submitted({ agents: 'all', hardware: { processor: 'fast' } }));
    const events = await eventsOf(platform, ID);
    const started = events.find(({ kind }) => kind === 'started');
    assert.ok(started?.kind === 'started');
    // The submission's check chose the first one.
    assert.equal(started.agent, '10.0.0.3:1, 10.0.0.1:1');
    assert.equal(agents.get('10.0.0.2:1')?.measured.length, 0);
    for (const address of ['10.0.0.1:1', '10.0.0.3:1']) assert.ok((agents.get(address)?.measured.length ?? 0) > 0);
    const last = events.at(-1);
    assert.ok(last?.kind === 'done' && last.resultJson === '{"measured":6}');
  });

  it('has a result for each system', async (t) => {
    const { platform } = await platformWith(t, THREE);
    await platform.submit(ID, submitted({ placement: 'each' }));
    const last = (await eventsOf(platform, ID)).at(-1);
    assert.ok(last?.kind === 'done');
    const result = systemsResultIn(JSON.parse(last.resultJson ?? ''));
    assert.deepEqual(result?.systems.map(({ name, agents }) => [name, agents.length]).toSorted(), [
      ['fast', 1],
      ['slow', 1],
    ]);
  });

  it('gets one agent if it does not ask for more', async (t) => {
    const { platform } = await platformWith(t, THREE);
    await platform.submit(ID, submitted());
    const started = (await eventsOf(platform, ID)).find(({ kind }) => kind === 'started');
    assert.ok(started?.kind === 'started' && !started.agent.includes(','));
  });
});

describe('the message of a run to a plugin', () => {
  const agents = [
    { address: '10.0.0.1:1', tls: false, token: '' },
    { address: '10.0.0.2:1', tls: true, token: 'only-for-this-agent' },
  ];
  const sent = (some: typeof agents): AttachResponse => {
    const run = { evaluationId: ID, attempt: 1, submission: submitted(), agents: some, traceContext: {} };
    return AttachResponse.decode(attachInBytes.responseSerialize({ message: toWireRun(run) }));
  };

  it('has all of its agents', () => {
    for (const some of [agents, agents.slice(0, 1)]) {
      const { message } = sent(some);
      assert.ok(message?.$case === 'run');
      assert.deepEqual(fromWireRun(message.value).agents, some);
    }
  });

  it('has the first agent in the field for plugins that know only one agent', () => {
    const { message } = sent(agents);
    assert.ok(message?.$case === 'run');
    assert.deepEqual(message.value.agent, agents[0]);
  });
});
