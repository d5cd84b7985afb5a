import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { deadline, workplace } from '../../cli/support/command.js';
import { planIn, reportIn } from '../../cli/support/report.js';
import { chain, FOUR_LAYERS, LAYER_CUT, MANY_OPERATORS, QUICK } from '../../cli/support/tiny-models.js';
import { workplaceHere } from '../../cli/support/workplace-here.js';
import { needsFerretDb, startFerretDb } from './ferretdb-process.js';
import { withDatabase } from './server.js';

interface Key {
  readonly signature: string;
  readonly fingerprint: string;
  readonly protocolKey: string;
}

/** The key of every stored measurement, sorted. */
const keysIn = (uri: string): Promise<readonly string[]> =>
  withDatabase(uri, async (db) => {
    const stored = await db.collection<Key>('measurements').find().toArray();
    return stored.map(({ signature, fingerprint, protocolKey }) => `${signature} ${fingerprint} ${protocolKey}`).sort();
  });

const countIn = (uri: string, name: string): Promise<number> =>
  withDatabase(uri, (db) => db.collection(name).countDocuments());

describe('commands with a team’s store', { ...deadline, ...needsFerretDb }, () => {
  it('measure and keep each brick once when two run the same evaluation at once, and lose none', async (t) => {
    const server = await startFerretDb(t);
    const place = await workplace(t);
    await place.write('four.onnx', chain(FOUR_LAYERS));
    const args = ['dlbricks', 'validate', 'four.onnx', ...LAYER_CUT, ...QUICK, '--export-json', '-', '--store'];
    const [alone, together] = ['alone', 'together'].map((name) => `mongodb://${server.address}/${name}`) as [
      string,
      string,
    ];
    assert.equal((await place.run([...args, alone])).code, 0);
    const ends = await Promise.all([place.run([...args, together]), place.run([...args, together])]);
    for (const end of ends) {
      assert.equal(end.code, 0, end.stderr);
      assert.equal(reportIn(end).models[0]?.coverage, 1);
    }
    const keys = await keysIn(together);
    assert.equal(new Set(keys).size, keys.length);
    assert.deepEqual(keys, await keysIn(alone));
    // Both occasions of the whole model, for the platform's analyses.
    assert.deepEqual(await Promise.all(['evaluation', 'performance'].map((name) => countIn(together, name))), [2, 2]);
  });

  it('go on without a server that is gone for good, end with 3, and bring it all there later', async (t) => {
    const server = await startFerretDb(t);
    const place = await workplace(t);
    await place.write('many.onnx', chain(MANY_OPERATORS));
    const uri = `mongodb://${server.address}/results?serverSelectionTimeoutMS=1000`;
    const args = [
      ...'dlbricks validate many.onnx'.split(' '),
      ...LAYER_CUT,
      ...'--runs 200 --warmup 1 --export-json -'.split(' '),
    ];
    const run = place.start([...args, '--store', uri]);
    while ((await keysIn(uri)).length === 0) await sleep(20);
    await server.signal('SIGKILL');
    const end = await run.ended;
    assert.equal(end.code, 3, end.stderr);
    assert.match(
      end.stderr,
      /does not answer; waiting for it[^]*has not answered for 1 s\.[^]*mlmodelscope store sync/,
    );
    assert.equal(reportIn(end).models[0]?.coverage, 1);

    await server.start();
    const sync = await place.run(['store', 'sync', '--store', uri]);
    assert.equal(sync.code, 0, sync.stderr);
    assert.match(sync.stdout, /^synced [1-9]\d* measurements? and \d+ other documents?\n$/);
    const again = await place.run(['store', 'sync', '--store', uri]);
    assert.equal(again.stdout, 'synced 0 measurements and 0 other documents\n');
    const next = await place.run([...args, '--store', uri]);
    assert.deepEqual([next.code, planIn(next).toMeasure], [0, 0]);
  });

  it('move everything to a store of this machine and back', async (t) => {
    const server = await startFerretDb(t);
    const place = await workplace(t);
    await place.write('four.onnx', chain(FOUR_LAYERS));
    const [first, second] = ['first', 'second'].map((name) => `mongodb://${server.address}/${name}`) as [
      string,
      string,
    ];
    await place.run(['dlbricks', 'validate', 'four.onnx', ...LAYER_CUT, ...QUICK, '--store', first]);
    await place.run(['store', 'export', 'first.jsonl', '--store', first]);
    await place.run(['store', 'import', 'first.jsonl']);
    const local = await place.run(['store', 'export', '-']);
    await place.write('local.jsonl', local.stdout);
    const imported = await place.run(['store', 'import', 'local.jsonl', '--store', second]);
    assert.match(imported.stdout, /^imported \d+ measurements and 7 other documents\n$/);
    assert.equal((await place.run(['store', 'export', '-', '--store', second])).stdout, local.stdout);
    assert.deepEqual(await keysIn(second), await keysIn(first));
  });
});

describe('mlmodelscope store', deadline, () => {
  it('says what is wrong with a file, and where', async (t) => {
    const place = await workplaceHere(t);
    const missing = await place.run(['store', 'import', 'nowhere.jsonl']);
    assert.deepEqual([missing.code, /nowhere\.jsonl cannot be read: .*no such file/.test(missing.stderr)], [2, true]);
    await place.write('other.jsonl', '{"a":1}\n');
    const other = await place.run(['store', 'import', 'other.jsonl']);
    assert.deepEqual([other.code, /other\.jsonl:1: expected /.test(other.stderr)], [2, true]);
    const unwritable = await place.run(['store', 'export', 'other.jsonl/within.jsonl']);
    assert.deepEqual([unwritable.code, /within\.jsonl cannot be written: /.test(unwritable.stderr)], [2, true]);
  });

  it('has nothing to sync for a store of this machine', async (t) => {
    const place = await workplaceHere(t);
    const { code, stderr } = await place.run(['store', 'sync']);
    assert.deepEqual([code, /name the store of a server/.test(stderr)], [2, true]);
  });
});
