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
});
