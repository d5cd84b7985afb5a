import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Release, FairSemaphore } from '../../src/base/fair-semaphore.js';
import { assertRefused } from '../rpc/support/refusal.js';

/** Takes places for clients, and records the clients in the order in which they got a place. */
async function taking(semaphore: FairSemaphore, clients: readonly string[]) {
  const entered: string[] = [];
  const leaves: Release[] = [];
  for (const client of clients) {
    void semaphore.take({ client }).then((leave) => {
      entered.push(client);
      leaves.push(leave);
    });
  }
  const leaveNext = async (): Promise<void> => {
    leaves.shift()?.();
    await Promise.resolve();
  };
  await Promise.resolve();
  return { entered, leaveNext };
}

describe('places', () => {
  it('are taken first come, first served', async () => {
    const { entered, leaveNext } = await taking(new FairSemaphore(1), ['a', 'b', 'c']);
    for (let i = 0; i < 2; i++) await leaveNext();
    assert.deepEqual(entered, ['a', 'b', 'c']);
  });

  it('go to the client that has the fewest places, and among several to the one that came first', async () => {
    const { entered, leaveNext } = await taking(new FairSemaphore(2), ['a', 'a', 'a', 'a', 'b', 'b', 'c']);
    for (let i = 0; i < 5; i++) await leaveNext();
    assert.deepEqual(entered, ['a', 'a', 'b', 'a', 'b', 'a', 'c']);
  });

  it('are left by work that fails, at once or later', async () => {
    const semaphore = new FairSemaphore(1);
    const fail = (): never => {
      throw new Error('no thread');
    };
    await assert.rejects(semaphore.run(fail), /no thread/);
    await assert.rejects(
      semaphore.run(() => Promise.reject(new Error('no thread'))),
      /no thread/,
    );
    assert.ok(semaphore.isIdle);
  });

  it('are not taken by clients that have left', async () => {
    const semaphore = new FairSemaphore(1);
    const leave = await semaphore.take();
    const leaving = new AbortController();
    const left = semaphore.take({ signal: leaving.signal });
    const last = semaphore.take();
    leaving.abort();
    await assertRefused(left, 'cancelled');
    leave();
    (await last)();
    (await semaphore.take())();
  });
});
