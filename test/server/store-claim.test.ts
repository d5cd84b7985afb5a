import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StoreClaim } from '../../src/server/store-claim.js';
import { startServer } from '../../src/server/server.js';
import { openMemoryStore } from '../../src/store/memory/open.js';
import type { ResultStore } from '../../src/store/result-store.js';
import { refusal } from '../rpc/support/refusal.js';
import { fast, suspendable } from '../store/fast-clock.js';

const deadline = { timeout: 60_000 };

function server(store: ResultStore, clock = fast): Promise<StoreClaim> {
  return StoreClaim.take(store, { role: 'server', clock });
}

const inUse = refusal('unavailable', /a server \(process \d+ on .*\) is at work on this store/);

describe('the claim to a store', deadline, () => {
  it('is refused to a second server until the first one has ended', async () => {
    const store = await openMemoryStore();
    const first = await server(store);
    await assert.rejects(server(store), inUse);
    await first.release();
    await (await server(store)).release();
  });

  it('goes to exactly one of several servers that start at once', async () => {
    const store = await openMemoryStore();
    const settled = await Promise.allSettled(Array.from({ length: 5 }, () => server(store)));
    const taken = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    assert.equal(taken.length, 1);
    await taken[0]?.release();
  });

  it('passes on from a server that seems to be killed, which learns of the loss if it is still alive', async () => {
    const store = await openMemoryStore();
    const { clock, suspend, wake } = suspendable();
    const first = await server(store, clock);
    suspend();
    const said: string[] = [];
    const onWait = (message: string) => said.push(message);
    const second = await StoreClaim.take(store, { role: 'server', clock: fast, onWait });
    assert.match(said.join(), /did not release this store; it is taken over in 5 to 7 s/);
    wake();
    await first.lost;
    await first.release();
    await assert.rejects(server(store), inUse);
    await second.release();
  });

  it('is shared by commands, and refused to a server while they run, since it would continue their evaluations', async () => {
    const store = await openMemoryStore();
    const commands = [1, 2].map(() => StoreClaim.take(store, { role: 'command', clock: fast }));
    await Promise.all(commands);
    await assert.rejects(server(store), refusal('unavailable', /a command \(process/));
    for (const command of commands) await (await command).release();
    const serving = await server(store);
    await (await StoreClaim.take(store, { role: 'command', clock: fast })).release();
    await serving.release();
  });

  it('is taken by a server at its start, and released when it is closed', async (t) => {
    const store = await openMemoryStore();
    const listen = { host: '127.0.0.1', port: 0 };
    const first = await startServer({ listen, store });
    t.after(() => first.close());
    await assert.rejects(startServer({ listen, store }), inUse);
    await first.close();
    await (await startServer({ listen, store })).close();
  });
});
