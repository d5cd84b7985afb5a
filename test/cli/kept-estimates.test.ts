import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { deadline, type Workplace } from './support/command.js';
import { chain, FOUR_LAYERS, QUICK } from './support/tiny-models.js';
import { workplaceHere } from './support/workplace-here.js';

interface Line {
  readonly kind?: string;
  readonly collection?: { readonly name: string };
  readonly document?: Readonly<Record<string, unknown>>;
}

/** The kept estimates in a store's export. */
async function keptBy(place: Workplace): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const file = join(place.folder, 'export.jsonl');
  await place.run(['store', 'export', file]);
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
  return lines.flatMap((line) => {
    const { collection, document } = JSON.parse(line) as Line;
    return collection?.name === 'estimates' && document !== undefined ? [document] : [];
  });
}

describe('the estimates of a store', { ...deadline, concurrency: 2 }, () => {
  it('are written by run, compose and latency, and are in the export', async (t) => {
    const place = await workplaceHere(t);
    const model = await place.write('four.onnx', chain(FOUR_LAYERS));
    const ran = await place.run(['dlbricks', 'run', model, ...QUICK]);
    assert.equal(ran.code, 0, ran.stderr);
    const [estimate, ...others] = await keptBy(place);
    assert.deepEqual(others, []);
    assert.equal(estimate?.['model'], 'four');
    assert.deepEqual([estimate?.['plugin'], estimate?.['coverage'], estimate?.['batch']], ['dlbricks', 1, 1]);
    assert.ok(Number(estimate?.['latencyMs']) > 0);

    const composed = await place.run(['dlbricks', 'compose', model, ...QUICK]);
    assert.equal(composed.code, 0, composed.stderr);
    assert.equal(new Set((await keptBy(place)).map(({ subject }) => subject)).size, 1, 'the same subject');

    const timed = await place.run(['latency', model, ...QUICK]);
    assert.equal(timed.code, 0, timed.stderr);
    const latency = (await keptBy(place)).find(({ plugin }) => plugin === 'latency');
    assert.equal(latency?.['graph'], estimate?.['graph']);
    assert.deepEqual([latency?.['lowMs'], latency?.['wholeMs']], [null, latency?.['latencyMs']]);
  });

  it('are written by compose where no other command wrote them', async (t) => {
    const place = await workplaceHere(t);
    const model = await place.write('four.onnx', chain(FOUR_LAYERS));
    await place.run(['dlbricks', 'run', model, ...QUICK]);
    const deleted = await place.run(['store', 'delete', '--documents', 'estimates']);
    assert.equal(deleted.code, 0, deleted.stderr);
    assert.deepEqual(await keptBy(place), []);
    await place.run(['dlbricks', 'compose', model, ...QUICK]);
    assert.equal((await keptBy(place)).length, 1);
  });
});
