import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { caseOf } from '../../fuzz/run/finds.js';
import { play } from '../../torture/run/play.js';
import { schedule } from '../../torture/run/schedule.js';
import { torture } from '../../torture/run/torture.js';
import { TARGETS } from '../../torture/targets/index.js';
import type { Target } from '../../torture/targets/target.js';
import { isRunning, needsLinux } from '../agent/support/processes.js';
import { until } from '../support/until.js';
import { temporaryFolder } from '../store/temporary-folder.js';

const deadline = { timeout: 60_000 };

/** A target that fails for odd random numbers, and leaves a detached process behind in each round. */
function planted(pids: number[]): Target {
  return {
    name: 'planted',
    share: 1,
    run: async ({ place, random }) => {
      await place.write('note', 'kept');
      const left = spawn('sleep', ['1000'], { env: place.env, stdio: 'ignore', detached: true });
      pids.push(left.pid ?? 0);
      if (random.below(1000) % 2 === 1) throw new Error('something is torn');
    },
  };
}

describe('the torture', { ...deadline, skip: needsLinux }, () => {
  it('prints and keeps rounds that fail, replays them by their seed, and leaves no process behind', async (t) => {
    const out = await temporaryFolder(t);
    const [pids, printed]: [number[], string[]] = [[], []];
    const target = planted(pids);
    const options = { commandMs: 1, out };
    const counts = await torture([target], 12, 7, { ...options, print: (line) => void printed.push(line) });
    assert.equal(pids.length, 12);
    await until(() => !pids.some(isRunning));
    const { held, failed } = counts.get('planted') ?? { held: 0, failed: 0 };
    assert.deepEqual([held + failed, failed > 0, held > 0], [12, true, true]);
    assert.equal(printed.length, failed);
    for (const line of printed) {
      const [, folder = '', name = ''] =
        /something is torn\nKept in (\S+)\. Again: make torture SEED=(\S+)$/.exec(line) ?? [];
      assert.equal(await readFile(join(folder, 'place', 'note'), 'utf8'), 'kept');
      assert.match(
        await readFile(join(folder, 'problem.txt'), 'utf8'),
        new RegExp(`SEED=${name}\n\nsomething is torn`),
      );
      assert.equal((await play(target, caseOf(name)?.seed ?? 0, options))?.problem, 'something is torn');
    }
    assert.equal((await readdir(out)).length, failed);
  });

  it('gives every target its share of any fifty rounds', () => {
    const fifty = schedule(TARGETS, 100).slice(50);
    for (const { name, share } of TARGETS) {
      assert.equal(fifty.filter((target) => target.name === name).length, share, name);
    }
    assert.deepEqual(schedule([], 50), []);
  });
});
