import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { inputOf } from '../../fuzz/run/case.js';
import { caseOf, nameOf } from '../../fuzz/run/finds.js';
import { fuzz, type FuzzOptions, repeat } from '../../fuzz/run/fuzz.js';
import { TARGETS } from './planted-targets.js';
import { temporaryFolder } from '../store/temporary-folder.js';

const MIB = 2 ** 20;

/** Time limit, which includes the making of the input. A reader that takes all memory needs more time. */
function hangMsOf(only: string): number {
  return only === 'swallows' ? 12_000 : 5000;
}

async function optionsFor(t: TestContext, only: string): Promise<FuzzOptions & { readonly printed: string[] }> {
  const out = await temporaryFolder(t);
  const printed: string[] = [];
  return {
    module: new URL(`planted-targets.js?only=${only}`, import.meta.url).href,
    limits: { cpuMs: 1000, hangMs: hangMsOf(only), heapBytes: 256 * MIB, peakBytes: 1024 * MIB },
    out,
    print: (line) => void printed.push(line),
    printed,
  };
}

/** Most inputs that it takes to find the bug of a reader. */
const MAX_ROUNDS = 5000;

const EXPECTED: Readonly<Record<string, RegExp>> = {
  inherits: /TypeError: .*is not a function/,
  blames: /does not name file: something is wrong/,
  swallows: /the process ended:[^]*heap out of memory|MiB of memory/,
  crawls: /ms of processor time for \d+ bytes|not done after 5 s/,
  hangs: /ms of processor time for \d+ bytes|not done after 5 s/,
};

describe('the fuzzer', { timeout: 600_000 }, () => {
  for (const { name } of TARGETS) {
    test(`finds a reader that ${name}, keeps the input, and finds it again by its seed`, async (t) => {
      const options = await optionsFor(t, name);
      let rounds = 0;
      await fuzz(1, () => options.printed.length === 0 && rounds++ < MAX_ROUNDS, options);

      const [line = ''] = options.printed;
      assert.match(line, EXPECTED[name] ?? /^$/);
      const found = caseOf(/Again: make fuzz SEED=(\S+)$/.exec(line)?.[1] ?? '');
      assert.ok(found);
      const [folder = ''] = await readdir(options.out);
      assert.ok(line.includes(join(options.out, folder)));
      const target = TARGETS.find((one) => one.name === name);
      assert.ok(target);
      const kept = await readFile(join(options.out, folder, 'input'));
      assert.ok(kept.equals(await inputOf(target, found.seed)));
      assert.match(await readFile(join(options.out, folder, 'problem.txt'), 'utf8'), new RegExp(nameOf(found)));
      assert.equal((await repeat(found, options)).kind, 'found');
    });
  }
});
