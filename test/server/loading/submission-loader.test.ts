import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PlatformError } from '../../../src/base/errors.js';
import { sha256Of } from '../../../src/base/sha256.js';
import { Submission } from '../../../src/generated/mlmodelscope/evaluation/v1/submission.js';
import { encodeSubmission, fromWireSubmission } from '../../../src/evaluation/wire/submission-wire.js';
import { SubmissionLoader } from '../../../src/server/loading/submission-loader.js';
import { assertRefused, refusal } from '../../rpc/support/refusal.js';
import { submission, submitted } from '../fake-platform.js';

const wanted = (): boolean => true;

describe('the loader of submissions', { timeout: 60_000 }, () => {
  // Its threads take longer to start than most tests take.
  const loader = new SubmissionLoader({ atOnce: 1 });

  it('describes a submission, and gives it back with graphs instead of models', async () => {
    const bytes = submitted({ hardware: { cores: { min: 4 } } });
    const digest = sha256Of(bytes);
    const told: unknown[] = [];
    const { described, submission: loaded = assert.fail() } = await loader.load(bytes, (it) => {
      told.push(it);
      return true;
    });
    assert.deepEqual(told, [described]);
    const { name, plugin, digest: found, requirements } = described;
    assert.deepEqual([name, plugin, found], ['tiny', 'fake', digest]);
    assert.deepEqual(requirements.hardware?.cores, { min: 4 });
    const { graphs, files, manifestPath } = fromWireSubmission(Submission.decode(loaded));
    assert.deepEqual([manifestPath, graphs.size], ['tiny.yml', 1]);
    assert.equal(files.get('four.onnx')?.length ?? 0, 0, 'no model with its weights');
  });

  it('reads no graph that is not wanted, and the next one with the same thread', async () => {
    const { files, ...rest } = submission();
    const damaged = encodeSubmission({ ...rest, files: new Map([...files, ['four.onnx', Buffer.from('no model')]]) });
    const { described, submission: loaded } = await loader.load(damaged, () => false);
    assert.deepEqual([described.name, loaded], ['tiny', undefined]);
    await assertRefused(loader.load(damaged, wanted), 'model', /four\.onnx/);
    assert.ok(((await loader.load(submitted(), wanted)).submission?.length ?? 0) > 0);
  });

  it('passes an error of the decision on, and goes on', async () => {
    const thrown = new PlatformError('exhausted', 'too many');
    const refused = loader.load(submitted(), () => {
      throw thrown;
    });
    await assert.rejects(refused, (error) => error === thrown);
    assert.ok((await loader.load(submitted(), wanted)).submission !== undefined);
  });

  it('refuses what is no submission, or has a wrong manifest', async () => {
    const damaged = refusal('usage', /^the request is damaged: /);
    await assert.rejects(loader.load(Buffer.from([0x0a, 0xff]), wanted), damaged);
    await assertRefused(loader.load(submitted({ threads: 0 }), wanted), 'manifest', /^tiny\.yml:1:\d+: threads/);
  });

  it('gives the same digest to the same content only', async () => {
    const digestOf = async (changes = {}) => (await loader.load(submitted(changes), () => false)).described.digest;
    assert.equal(await digestOf(), await digestOf());
    assert.notEqual(await digestOf(), await digestOf({ threads: 2 }));
  });

  it('reads as many at once as it may, and the others in turn', async () => {
    const order: string[] = [];
    const load = async (name: string): Promise<void> => {
      await loader.load(submitted({ name }), () => {
        order.push(`${name} begins`);
        return false;
      });
      order.push(`${name} ends`);
    };
    await Promise.all([load('one'), load('two')]);
    assert.deepEqual(order, ['one begins', 'one ends', 'two begins', 'two ends']);
  });

  it('leaves a submission out whose client does not wait any more', async () => {
    const leaving = new AbortController();
    const first = loader.load(submitted(), wanted);
    const left = loader.load(submitted(), wanted, { signal: leaving.signal });
    leaving.abort();
    await assertRefused(left, 'cancelled');
    await first;
  });

  it('gives up what takes too long, each time with a new thread', async () => {
    const slow = new SubmissionLoader({ timeMs: 1 });
    const late = refusal('model', /^reading the models takes more than 0\.001 s; submit fewer or smaller ones/);
    for (let times = 0; times < 2; times++) await assert.rejects(slow.load(submitted(), wanted), late);
  });

  it('refuses a submission that names no manifest, or one by a path that is too long', async () => {
    for (const manifestPath of ['', 'x'.repeat(1001)]) {
      const wrong = encodeSubmission({ ...submission(), manifestPath });
      await assertRefused(loader.load(wrong, wanted), 'usage', /^submission: manifest_path ".*" is no path of/);
    }
  });

  it('gives up what takes too much memory', async () => {
    // Less than the code of the thread takes.
    const small = new SubmissionLoader({ memoryMib: 4 });
    await assertRefused(small.load(submitted(), wanted), 'model', /takes more than 4 MiB of memory; submit/);
  });

  it('takes the memory of a large submission instead of copying it, and leaves that of a small one', async () => {
    const { files, ...rest } = submission();
    const padded = (bytes: number): Uint8Array => {
      const more = [['padding.bin', Buffer.alloc(bytes)]] as const;
      return encodeSubmission({ ...rest, files: new Map([...files, ...more]) });
    };
    for (const [bytes, left] of [
      [padded(2 ** 20), 0],
      [padded(1000), padded(1000).length],
    ] as const) {
      await loader.load(bytes, () => false);
      assert.equal(bytes.length, left);
    }
  });
});
