import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { collect } from '../../src/base/collect.js';
import { PlatformError } from '../../src/base/errors.js';
import { evaluationCollections, type EvaluationRecord } from '../../src/evaluation/records.js';
import { getSubmission, putSubmission, removeHalfSubmissions } from '../../src/server/submission-store.js';
import { openMemoryStore } from '../../src/store/memory/open.js';
import { refusal } from '../rpc/support/refusal.js';
import { withChanges } from './changing-store.js';
import { SOLE_LEASES, takenByAnother } from './fake-platform.js';

const PART_BYTES = 2 ** 20;
const AT = '2026-01-01T00:00:00.000Z';

function recordOf(id: string): EvaluationRecord {
  const others = { name: 'tiny', plugin: 'fake', state: 'queued', digest: '', attempts: 0, traceContext: {} } as const;
  return { ...others, id, submittedAt: AT, changedAt: AT };
}

/** Bytes that differ from part to part: 251 is a prime number. */
function bytesOf(length: number): Buffer {
  return Buffer.alloc(
    length,
    Uint8Array.from({ length: 251 }, (_, at) => at),
  );
}

async function storing() {
  const store = await openMemoryStore();
  const collections = evaluationCollections(store);
  const partsOf = async (evaluation: string) => {
    const found: { readonly part: string; readonly bytes: number }[] = [];
    for await (const { part, content } of collections.parts.find({ evaluation }))
      found.push({ part, bytes: Buffer.from(content, 'base64').length });
    return found;
  };
  const arriving = async () => {
    return (await collect(collections.arrivals.find({}))).map(({ evaluation }) => evaluation);
  };
  return { store, collections, partsOf, arriving };
}

describe('a stored submission', () => {
  it('is divided into parts of 1 MiB, and joined again in their order', async () => {
    const { collections, partsOf, arriving } = await storing();
    for (const length of [1, PART_BYTES - 1, PART_BYTES, PART_BYTES + 1, 11 * PART_BYTES + 7]) {
      const id = `evaluation-${length}`;
      const bytes = bytesOf(length);
      // A part of a larger buffer, as a message of the network is.
      const around = new Uint8Array(length + 8);
      around.set(bytes, 3);
      await putSubmission(recordOf(id), around.subarray(3, 3 + length), collections);
      const count = Math.ceil(length / PART_BYTES);
      assert.deepEqual(
        await partsOf(id),
        Array.from({ length: count }, (_, at) => ({
          part: String(at).padStart(4, '0'),
          bytes: Math.min(PART_BYTES, length - at * PART_BYTES),
        })),
      );
      assert.ok(bytes.equals(await getSubmission(id, collections.parts)));
      assert.deepEqual(await collections.records.get({ id }), recordOf(id));
    }
    assert.deepEqual(await arriving(), []);
  });

  it('that is lost is an error that says what to do', async () => {
    const { collections } = await storing();
    await putSubmission(recordOf('another-one'), bytesOf(1), collections);
    const lost = refusal('storage', /^the submission of evaluation-1 is lost; submit it again$/);
    await assert.rejects(getSubmission('evaluation-1', collections.parts), lost);
  });

  it('of a failed attempt leaves nothing behind, and touches no other one', async () => {
    const { store, collections, partsOf, arriving } = await storing();
    await putSubmission(recordOf('evaluation-2'), bytesOf(3), collections);
    const full = new PlatformError('storage', 'the disk is full');
    const failing = withChanges(store, (work, document) => {
      return document !== undefined && 'digest' in document ? Promise.reject(full) : work();
    });
    const putting = putSubmission(recordOf('evaluation-1'), bytesOf(3), evaluationCollections(failing));
    await assert.rejects(putting, full);
    assert.deepEqual([await partsOf('evaluation-1'), await arriving()], [[], []]);
    assert.equal((await partsOf('evaluation-2')).length, 1);
  });
});

describe('a submission that a server had not stored completely when it ended', () => {
  it('is removed, unless it has its record, or another server stores it now', async () => {
    const { collections, partsOf, arriving } = await storing();
    const ids = ['half-arrived', 'with-a-record', 'of-another-server'];
    for (const evaluation of ids) {
      await collections.arrivals.put({ evaluation });
      await collections.parts.put({ evaluation, part: '0000', content: 'AAAA' });
    }
    await collections.records.put(recordOf('with-a-record'));
    await collections.parts.put({ evaluation: 'not-arriving', part: '0000', content: 'AAAA' });
    const taken: string[][] = [];
    const released: string[] = [];
    await removeHalfSubmissions(collections, {
      ...SOLE_LEASES,
      take: (asked) => {
        taken.push([...asked]);
        return takenByAnother(asked.filter((id) => id === 'of-another-server'));
      },
      release: (id = '') => {
        released.push(id);
        return Promise.resolve();
      },
    });
    assert.deepEqual(taken, [ids.toSorted()]);
    assert.deepEqual(released, ['half-arrived', 'with-a-record']);
    const counts = await Promise.all([...ids, 'not-arriving'].map(async (id) => (await partsOf(id)).length));
    assert.deepEqual(counts, [0, 1, 1, 1]);
    assert.deepEqual(await arriving(), ['of-another-server']);
  });
});
