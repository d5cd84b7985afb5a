import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { openStore } from '../../src/store/open-store.js';
import { type Workplace, workplace } from './support/command.js';
import { onDisk, unlessMounts } from './support/small-disk.js';
import { chain, MANY_OPERATORS } from './support/tiny-models.js';
import { planIn, reportIn } from './support/report.js';

async function storedIn(place: Workplace): Promise<readonly string[]> {
  const store = await openStore(place.store, { access: 'read' });
  const kinds: string[] = [];
  for await (const { outcome } of store.listMeasurements()) kinds.push(outcome.kind);
  await store.close();
  return kinds;
}

describe('a temporary folder on a full disk', { timeout: 600_000, skip: unlessMounts() }, () => {
  for (const size of ['8k', '100k']) {
    it(`of ${size} ends the run, stores no failure, and the same command measures when there is room`, async (t) => {
      const place = await workplace(t);
      const temporary = place.path('tmp');
      await mkdir(temporary);
      const env = { TMPDIR: temporary };
      const model = await place.write('many.onnx', chain(MANY_OPERATORS));
      // So many runs that their profile is larger than the disk.
      const args = ['dlbricks', 'run', model, ...'--granularity 1 --runs 500 --warmup 1 --export-json=-'.split(' ')];
      const full = await place.run(args, { env, through: onDisk(size, 'TMPDIR') });
      assert.equal(full.code, 1, full.stderr);
      const problems = full.stderr.match(/disk.* is full.*set TMPDIR to another folder/g) ?? [];
      assert.equal(problems.length, 1, full.stderr);
      assert.ok(full.stderr.includes(temporary), full.stderr);
      assert.doesNotMatch(full.stderr, /ask for fewer runs|Export the model/);
      const stored = await storedIn(place).catch(() => []);
      assert.ok(
        stored.every((kind) => kind === 'samples'),
        stored.join(),
      );

      const again = await place.run(args, { env });
      assert.equal(again.code, 0, again.stderr);
      assert.ok(planIn(again).toMeasure > 0);
      assert.deepEqual(
        reportIn(again).models.map(({ coverage }) => coverage),
        [1],
      );
    });
  }
});
