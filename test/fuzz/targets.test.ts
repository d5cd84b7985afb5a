import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inputOf } from '../../fuzz/run/case.js';
import { TARGETS } from '../../fuzz/targets/index.js';
import { type Verdict } from '../../fuzz/targets/target.js';
import { temporaryFolder } from '../store/temporary-folder.js';

describe('a target of the fuzzer', () => {
  for (const target of TARGETS) {
    test(`${target.name}: reads its seeds`, async (t) => {
      const folder = await temporaryFolder(t);
      for (const seed of await target.seeds()) assert.equal(await target.check(seed, folder), 'read');
    });

    test(`${target.name}: makes the same input from the same seed, inputs that are read, and inputs that are refused`, async (t) => {
      const folder = await temporaryFolder(t);
      const verdicts = new Set<Verdict>();
      for (let seed = 0; seed < 200 && verdicts.size < 2; seed++) {
        const input = await inputOf(target, seed);
        assert.ok(Buffer.from(input).equals(await inputOf(target, seed)));
        verdicts.add(await target.check(input, folder));
      }
      assert.equal(verdicts.size, 2);
    });
  }
});
