import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { needsLinux } from '../agent/support/processes.js';
import { BUSY_BOMBS } from './busy-bombs.js';
import { measuredServer } from './busy-server.js';

/** What docs/security.md promises: no request keeps another client waiting for longer. */
const LONGEST_MS = 100;

describe('the event loop of a server', { timeout: 900_000, skip: needsLinux }, () => {
  for (const [what, bomb] of Object.entries(BUSY_BOMBS)) {
    it(`is never busy for long with ${what}`, async (t) => {
      const server = await measuredServer(t);
      const client = server.clientOf('bomber');
      await server.longestTurnMs();
      const health = await server.watchHealth();
      await bomb(client, t);
      const { answered, longestMs } = await health();
      assert.ok(answered > 0);
      assert.ok(longestMs < LONGEST_MS, `a health check waited for ${longestMs} ms of processor time`);
      const turnMs = await server.longestTurnMs();
      assert.ok(turnMs < LONGEST_MS, `${turnMs} ms of processor time`);
    });
  }

  it('answers health checks while all of these go off at once', async (t) => {
    const server = await measuredServer(t);
    await server.longestTurnMs();
    const health = await server.watchHealth();
    // The tests above hold what becomes of each. So many at once may be given up, on a slow machine after a minute.
    await Promise.allSettled(Object.values(BUSY_BOMBS).map((bomb, i) => bomb(server.clientOf(`bomber-${i}`), t)));
    const { answered, longestMs, longestWallMs } = await health();
    const turnMs = await server.longestTurnMs();
    t.diagnostic(`${answered} health checks, ${longestMs.toFixed(1)} ms at most (${longestWallMs.toFixed(0)} ms wall)`);
    assert.ok(answered > 0);
    assert.ok(longestMs < LONGEST_MS, `a health check waited for ${longestMs} ms of processor time`);
    assert.ok(turnMs < LONGEST_MS, `${turnMs} ms of processor time`);
  });
});
