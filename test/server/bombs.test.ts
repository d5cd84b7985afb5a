import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { connectEvaluations } from '../../src/evaluation/client/evaluation-client.js';
import { loadSubmission, type Submission } from '../../src/evaluation/submission.js';
import type { LeasedDirectory } from '../../src/directory/agent-directory.js';
import type { RpcClient } from '../../src/rpc/client.js';
import { EvaluationServiceService } from '../../src/generated/mlmodelscope/evaluation/v1/evaluation_service.js';
import { SubmissionLoader } from '../../src/server/loading/submission-loader.js';
import { encodeSubmission } from '../../src/server/submission-store.js';
import { openMemoryStore } from '../../src/store/memory/open.js';
import type { ResultStore } from '../../src/store/result-store.js';
import { clientOf, forked } from '../rpc/support/hostile.js';
import { refusal } from '../rpc/support/refusal.js';
import { until } from '../support/until.js';
import { copies, doubling, emptyNodes, nested, refused } from './bombs.js';
import { AGENT, directoryWith, openPlatform, submitted } from './fake-platform.js';
import { obedient, scripted, untilStopped } from './scripted-evaluation.js';
import type { ServerProcessOptions } from './server-process.js';

const MIB = 2 ** 20;
const ID = 'evaluation-1';
const deadline = { timeout: 300_000 };

const wanted = (): boolean => true;

/** The longest that a small request has waited until the work was done, or for a number of them; milliseconds. */
async function longestWait(client: RpcClient, work?: Promise<unknown>): Promise<number> {
  let [isDone, longest] = [work === undefined, 0];
  void work?.finally(() => (isDone = true));
  for (let asked = 0; asked < 100 || !isDone; asked++) {
    const start = performance.now();
    await client.unary(EvaluationServiceService.listPlugins, {}, { deadlineMs: 60_000 });
    longest = Math.max(longest, performance.now() - start);
    await setTimeout(5);
  }
  return longest;
}

describe('a submission that makes a lot of work', deadline, () => {
  it('does not delay other clients', async (t) => {
    const script = fileURLToPath(new URL('server-process.js', import.meta.url));
    const options: ServerProcessOptions = { evaluation: ID, resultCharacters: 0, limits: {} };
    const { address } = await forked(t, script, options);
    const others = clientOf(t, address);
    const attacker = connectEvaluations(address);
    t.after(() => attacker.close());
    const bombs: readonly Submission[] = [
      copies(doubling(16), 40),
      copies(doubling(40), 40),
      refused(nested(28, 20_000), 1),
      copies(emptyNodes(4 * MIB), 2),
    ];
    const baseline = await longestWait(others);
    const submissions = bombs.map((bomb, i) =>
      assert.rejects(attacker.submit(`bomb-000${i}`, bomb), { code: 'model' }),
    );
    const longest = await longestWait(others, Promise.all(submissions));
    // 100 ms are promised for a machine of one's own; here it is shared, with the threads that do the work as well.
    assert.ok(longest < 100 + 5 * baseline, `${longest} ms, and ${baseline} ms before`);
    assert.equal((await attacker.get(ID)).evaluation.state, 'done');
  });

  it('is refused as a whole, however small each of its models is', async () => {
    await loadSubmission(copies(doubling(8), 40));
    const loading = loadSubmission(copies(doubling(16), 40));
    await assert.rejects(loading, refusal('model', /call each other so often/));
  });

  it('is not looked into before its plugin and an agent are there', async (t) => {
    const agents = directoryWith(AGENT.address);
    const { platform, attach } = await openPlatform({ store: await openMemoryStore(), agents });
    t.after(() => platform.close());
    const damaged = (changes = {}) => encodeSubmission(copies(Buffer.from('no model'), 1, changes));
    await assert.rejects(platform.submit(ID, damaged()), refusal('unavailable', /plugin fake is not attached/));
    attach(obedient);
    await until(() => platform.plugins().length > 0);
    const choosy = damaged({ hardware: { cores: { min: 99 } } });
    await assert.rejects(platform.submit(ID, choosy), refusal('unsupported', /no agent meets/));
    await assert.rejects(platform.submit(ID, damaged()), refusal('model', /m0\.onnx/));
  });

  it('ends at the limits of the thread that reads it, and the next one is read', async () => {
    const slow = new SubmissionLoader({ timeMs: 1 });
    await assert.rejects(slow.load(submitted(), wanted), refusal('model', /takes more than 0\.001 s/));
    const small = new SubmissionLoader({ memoryMib: 128 });
    const large = encodeSubmission(copies(emptyNodes(3 * MIB), 1));
    await assert.rejects(small.load(large, wanted), refusal('model', /takes more than 128 MiB of memory/));
    assert.ok(((await small.load(submitted(), wanted))?.length ?? 0) > 0);
  });

  it('is read once, however long it waits for an agent', async (t) => {
    const store = await openMemoryStore();
    const before = await openPlatform({ store });
    before.attach(
      scripted(async function* (_request, context) {
        yield { kind: 'note', level: 'info', message: 'at work' };
        await untilStopped(context);
      }),
    );
    await before.platform.submit(ID, submitted());
    await until(async () => (await before.platform.get(ID)).last?.event.kind === 'note');
    before.platform.close();

    const agents = directoryWith();
    let [reads, looks] = [0, 0];
    const collection: ResultStore['collection'] = (definition) => {
      const documents = store.collection(definition);
      const find: typeof documents.find = (match) => {
        if (definition.name === 'submission_parts') reads++;
        return documents.find(match);
      };
      return { ...methodsOf(documents), find };
    };
    const choose: LeasedDirectory['choose'] = (unmet) => {
      looks++;
      return agents.choose(unmet);
    };
    const watching = { store: { ...methodsOf(store), collection }, agents: { ...agents, choose } };
    const after = await openPlatform({ ...watching, limits: { retryMs: 5 } }, { resume: true });
    t.after(() => after.platform.close());
    after.attach(obedient);
    await until(() => looks > 5);
    assert.equal(reads, 1);
    agents.register(AGENT);
    await until(async () => (await after.platform.get(ID)).record.state === 'done');
    // Once for its manifests, once for its plugin.
    assert.equal(reads, 2);
  });
});

/** What of a class is given on as an object of functions. */
function methodsOf<T extends object>(instance: T): T {
  const names = Object.getOwnPropertyNames(Object.getPrototypeOf(instance)) as (keyof T)[];
  const methods = names.flatMap((name) => {
    const method: unknown = instance[name];
    return typeof method === 'function' ? [[name, method.bind(instance) as unknown]] : [];
  });
  return Object.fromEntries(methods) as T;
}
