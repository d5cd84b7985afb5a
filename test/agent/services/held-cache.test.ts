import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { dependentReadNs, heldCacheBytes, knownHeldCacheBytes } from '../../../src/agent/services/held-cache.js';

const MIB = 2 ** 20;

/** Reads of a machine that has this much cache for itself, and a second-level cache of a mebibyte. */
function machineWith(cacheMib: number): (bytes: number) => number {
  return (bytes) => (bytes <= MIB ? 5 : bytes <= cacheMib * MIB ? 40 : 110);
}

describe('a stated cache', () => {
  test('counts as stated where it holds half of its size', () => {
    for (const [stated, really] of [
      [32, 4],
      [64, 4],
      [96, 96],
      [96, 60],
      [260, 200],
    ] as const) {
      assert.equal(heldCacheBytes(stated * MIB, machineWith(really)), stated * MIB, `${stated} MiB`);
    }
  });

  test('counts as half, a quarter and so on where others use it, but never as less than 32 MiB', () => {
    for (const [stated, really, held] of [
      [256, 100, 128],
      [256, 40, 64],
      [256, 9, 32],
      [480, 100, 120],
      [100, 10, 32],
    ] as const) {
      assert.equal(heldCacheBytes(stated * MIB, machineWith(really)), held * MIB, `${stated} MiB, ${really} MiB`);
    }
  });

  test('is the same where others slow the reads of memory and of one reference down', () => {
    const reads = machineWith(9);
    let references = 0;
    const busy = (bytes: number): number => reads(bytes) * (bytes > MIB ? 4 : references++ === 0 ? 10 : 1);
    assert.equal(heldCacheBytes(300 * MIB, busy), 32 * MIB);
  });

  test('is measured by reads that take longer in a larger working set', () => {
    const [small, large] = [MIB / 4, 128 * MIB].map(dependentReadNs);
    assert.ok((large ?? 0) > (small ?? Infinity), `${small} and ${large} ns`);
  });

  describe('that was measured', () => {
    const folder = mkdtempSync(join(tmpdir(), 'held-cache-'));
    after(() => rmSync(folder, { recursive: true, force: true }));
    const machine = { cacheBytes: 256 * MIB, processor: 'a processor' };
    let measured = 0;
    const measure = (): number => {
      measured++;
      return 64 * MIB;
    };

    test('is not measured again, unless the machine states something else', async () => {
      const held = (changes: Partial<typeof machine> = {}): Promise<number> => {
        return knownHeldCacheBytes({ ...machine, ...changes }, join(folder, 'kept'), measure);
      };
      assert.deepEqual([await held(), await held(), measured], [64 * MIB, 64 * MIB, 1]);
      assert.equal(await held({ cacheBytes: 32 * MIB }), 32 * MIB);
      assert.equal(measured, 1, 'a cache of 32 MiB needs no check');
      await held({ processor: 'another' });
      assert.equal(measured, 2);
      writeFileSync(join(folder, 'kept', 'last-level-cache.json'), '{ broken');
      assert.equal(await held(), 64 * MIB);
      assert.match(readFileSync(join(folder, 'kept', 'last-level-cache.json'), 'utf8'), /67108864/);
    });

    const known = {
      stated_bytes: machine.cacheBytes,
      processor: machine.processor,
      held_bytes: 128 * MIB,
      reference_bytes: MIB / 2,
    };

    test('is measured again where an earlier version compared with another reference', async () => {
      const kept = join(folder, 'earlier');
      mkdirSync(kept);
      writeFileSync(join(kept, 'last-level-cache.json'), JSON.stringify({ ...known, reference_bytes: undefined }));
      assert.equal(await knownHeldCacheBytes(machine, kept, measure), 64 * MIB);
    });

    test('is that of the first of two agents that start at the same time', async () => {
      const kept = join(folder, 'started-together');
      const held = await knownHeldCacheBytes(machine, kept, () => {
        // Another agent is done while this one measures.
        mkdirSync(kept);
        writeFileSync(join(kept, 'last-level-cache.json'), JSON.stringify(known));
        return 64 * MIB;
      });
      assert.equal(held, 128 * MIB);
    });

    test('counts as stated where nothing can be kept, so that the system stays the same', async () => {
      const file = join(folder, 'file');
      writeFileSync(file, '');
      assert.equal(await knownHeldCacheBytes(machine, file, measure), machine.cacheBytes);
    });
  });
});
