import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { leased } from '../../src/server/attach.js';
import { memoryLink } from './memory-link.js';

describe('the lease of a plugin', { timeout: 60_000 }, () => {
  it('does not end because the process of the server was blocked, and ends when nothing comes', async () => {
    const link = memoryLink();
    const messages = leased(link.platform, 2500, () => 0);
    const first = messages.next();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 4000);
    // The timer of the lease is overdue, and runs before the message is there.
    setTimeout(() => void link.plugin.send({ kind: 'renewal' }), 50);
    assert.deepEqual(await first, { done: false, value: { kind: 'renewal' } });
    assert.equal((await messages.next()).done, true);
  });
});
