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
      const { waitsMs } = await health();
      assert.ok(waitsMs.length > 0);
      const longestMs = Math.max(...waitsMs);
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
    const { waitsMs } = await health();
    const turnMs = await server.longestTurnMs();
    const longestMs = Math.max(...waitsMs);
    t.diagnostic(
      `${waitsMs.length} health checks, ${longestMs.toFixed(1)} ms at most; a turn of ${turnMs.toFixed(1)} ms`,
    );
    assert.ok(waitsMs.length > 0);
    assert.ok(turnMs < LONGEST_MS, `${turnMs} ms of processor time`);
    // A check takes several turns. Where the machine is so busy that it has few, one may get the longest of several clients.
    const late = waitsMs.filter((ms) => ms >= LONGEST_MS).length;
    assert.ok(late <= 1 && longestMs < 2 * LONGEST_MS, `${late} waited for up to ${longestMs} ms of processor time`);
  });
});
