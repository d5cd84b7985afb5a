import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { needsLinux } from '../agent/support/processes.js';
import { BUSY_BOMBS } from './busy-bombs.js';
import { measuredServer } from './busy-server.js';

/** What docs/security.md promises: no request keeps another client waiting for longer. */
const LONGEST_MS = 100;

/** Time that all bombs have together. */
const AT_ONCE_MS = 20_000;

describe('the event loop of a server', { timeout: 900_000, skip: needsLinux }, () => {
  for (const [what, bomb] of Object.entries(BUSY_BOMBS)) {
    it(`is never busy for long with ${what}`, async (t) => {
      const server = await measuredServer(t);
      const goOff = await bomb(server.clientOf('bomber'), t);
      await server.longestTurnMs();
      const health = await server.watchHealth();
      await goOff();
      const { answered, longestMs } = await health();
      assert.ok(answered > 0);
      assert.ok(longestMs < LONGEST_MS, `a health check waited for ${longestMs} ms of processor time`);
      const turnMs = await server.longestTurnMs();
      assert.ok(turnMs < LONGEST_MS, `${turnMs} ms of processor time`);
    });
  }

  it('answers health checks while all of these go off at once', async (t) => {
    const server = await measuredServer(t);
    const bombs = Object.values(BUSY_BOMBS).map((bomb, i) => bomb(server.clientOf(`bomber-${i}`), t));
    const prepared = await Promise.all(bombs);
    await server.longestTurnMs();
    const health = await server.watchHealth();
    // The tests above hold what becomes of each; on a slow machine, so many at once are not done for minutes.
    const settled = Promise.allSettled(prepared.map((goOff) => goOff()));
    await Promise.race([settled, setTimeout(AT_ONCE_MS)]);
    const { answered, longestMs } = await health();
    const turnMs = await server.longestTurnMs();
    t.diagnostic(`${answered} health checks, ${longestMs.toFixed(1)} ms at most; ${turnMs.toFixed(1)} ms for one turn`);
    assert.ok(answered > 0);
    assert.ok(longestMs < LONGEST_MS, `a health check waited for ${longestMs} ms of processor time`);
    assert.ok(turnMs < LONGEST_MS, `${turnMs} ms of processor time`);
  });
});
