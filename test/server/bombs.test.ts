import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { loadSubmission } from '../../src/evaluation/submission.js';
import type { AgentDirectory } from '../../src/directory/agent-directory.js';
import { SubmissionLoader } from '../../src/server/loading/submission-loader.js';
import { encodeSubmission } from '../../src/evaluation/wire/submission-wire.js';
import { openMemoryStore } from '../../src/store/memory/open.js';
import type { ResultStore } from '../../src/store/result-store.js';
import { assertRefused } from '../rpc/support/refusal.js';
import { until } from '../support/until.js';
import { copies, doubling, emptyNodes } from './bombs.js';
import { AGENT, directoryWith, leaveAtWork, openPlatform, submitted } from './fake-platform.js';
import { obedient } from './scripted-evaluation.js';

const MIB = 2 ** 20;
const ID = 'evaluation-1';
const deadline = { timeout: 600_000 };

const wanted = (): boolean => true;

describe('a submission that makes a lot of work', deadline, () => {
  it('is refused as a whole, even if each of its models is small', async () => {
    await loadSubmission(copies(doubling(8), 40));
    const loading = loadSubmission(copies(doubling(16), 40));
    await assertRefused(loading, 'usage', /call each other so often/);
  });

  it('is left out if it is one model, as long as another one can be used', async () => {
    const problem = /^m0\.onnx: its functions call each other so often .* Export the model without functions\.$/;
    await assertRefused(loadSubmission(copies(doubling(30), 1)), 'model', problem);
    const { files, ...rest } = copies(doubling(8), 3);
    const { loaded } = await loadSubmission({ ...rest, files: new Map([...files, ['m0.onnx', doubling(30)]]) });
    assert.deepEqual([loaded.models.length, loaded.unusable.map(({ name }) => name)], [2, ['m0']]);
  });

  it('is not read before its plugin and a fitting agent are available', async (t) => {
    const agents = directoryWith(AGENT.address);
    const { platform, attach } = await openPlatform({ store: await openMemoryStore(), agents });
    t.after(() => platform.close());
    const damaged = (changes = {}) => encodeSubmission(copies(Buffer.from('no model'), 1, changes));
    await assertRefused(platform.submit(ID, damaged()), 'unavailable', /plugin fake is not attached/);
    attach(obedient);
    await until(() => platform.plugins().length > 0);
    const choosy = damaged({ hardware: { cores: { min: 99 } } });
    await assertRefused(platform.submit(ID, choosy), 'unsupported', /no agent meets/);
    await assertRefused(platform.submit(ID, damaged()), 'model', /m0\.onnx/);
  });

  it('is refused at the limits of the thread that reads it, and the next one is read', async () => {
    const slow = new SubmissionLoader({ timeMs: 1 });
    await assertRefused(slow.load(submitted(), wanted), 'model', /takes more than 0\.001 s/);
    const small = new SubmissionLoader({ memoryMib: 128 });
    const large = encodeSubmission(copies(emptyNodes(MIB), 1));
    await assertRefused(small.load(large, wanted), 'model', /takes more than 128 MiB of memory/);
    assert.ok(((await small.load(submitted(), wanted)).submission?.length ?? 0) > 0);
  });

  it('is refused at the time limit, even if its thread runs out of memory while it is ended', async (t) => {
    const mocked = t.mock.method(Worker.prototype, 'terminate', function (this: Worker) {
      this.emit('error', new Error('out of memory'));
      mocked.mock.restore();
      return this.terminate();
    });
    const slow = new SubmissionLoader({ timeMs: 1 });
    await assertRefused(slow.load(submitted(), wanted), 'model', /takes more than 0\.001 s/);
  });

  it('is not read if its client leaves while it waits, and may be submitted again', async (t) => {
    const store = await openMemoryStore();
    const { platform, attach } = await openPlatform({ store, loader: new SubmissionLoader({ atOnce: 1 }) });
    t.after(() => platform.close());
    attach(obedient);
    await until(() => platform.plugins().length > 0);
    const leaving = new AbortController();
    const { signal } = leaving;
    const before = platform.submit('evaluation-0', encodeSubmission(copies(doubling(16), 300)));
    // The first waits for the thread, the second for the first.
    const left = [1, 2].map(() => platform.submit(ID, submitted(), { signal }));
    const again = platform.submit(ID, submitted());
    leaving.abort();
    await Promise.all([
      assertRefused(before, 'usage', /call each other so often/),
      ...left.map((one) => assertRefused(one, 'cancelled')),
    ]);
    assert.equal((await again).id, ID);
  });

  it('is read only once while it waits for an agent', async (t) => {
    const store = await openMemoryStore();
    await leaveAtWork(store, ID);

    const agents = directoryWith();
    let reads = 0;
    let looks = 0;
    const collection: ResultStore['collection'] = (definition) => {
      const documents = store.collection(definition);
      const find: typeof documents.find = (match) => {
        if (definition.name === 'submission_parts') reads++;
        return documents.find(match);
      };
      return { ...methodsOf(documents), find };
    };
    const chooseAll: AgentDirectory['chooseAll'] = (unmet, used) => {
      looks++;
      return agents.chooseAll(unmet, used);
    };
    const watching = { store: { ...methodsOf(store), collection }, agents: { ...agents, chooseAll } };
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

function methodsOf<T extends object>(instance: T): T {
  const names = Object.getOwnPropertyNames(Object.getPrototypeOf(instance)) as (keyof T)[];
  const methods = names.flatMap((name) => {
    const method: unknown = instance[name];
    return typeof method === 'function' ? [[name, method.bind(instance) as unknown]] : [];
  });
  return Object.fromEntries(methods) as T;
}
