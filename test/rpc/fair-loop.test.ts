import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FairLoop } from '../../src/rpc/fair-loop.js';

/** Longer than the work that shares one turn. */
const LONG_MS = 8;

function busy(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}

describe('turns of the event loop', () => {
  test('go first to a client that asks for little, however much others wait for', async () => {
    const loop = new FairLoop();
    const served: string[] = [];
    const work = async (client: string, ms: number): Promise<void> => {
      await loop.take(client);
      busy(ms);
      served.push(client);
    };
    const much = ['a', 'b', 'c'].flatMap((client) => Array.from({ length: 10 }, () => work(client, LONG_MS)));
    await Promise.race(much);
    for (let i = 0; i < 3; i++) await work('little', 0);
    // At most one turn of another client comes between two of them, and one runs when the first is asked for.
    assert.ok(served.filter((client) => client === 'little').length === 3 && served.length <= 10, served.join(' '));
    await Promise.all(much);
  });

  test('are shared by the time that they take, and come in the order of the calls of a client', async () => {
    const loop = new FairLoop();
    const served: string[] = [];
    const work = async (client: string, call: number, ms: number): Promise<void> => {
      await loop.take(client);
      busy(ms);
      served.push(`${client}${call}`);
    };
    const long = [1, 2, 3].map((call) => work('long', call, 15 * LONG_MS));
    const short = [1, 2, 3, 4, 5, 6].map((call) => work('short', call, LONG_MS));
    await Promise.all([...long, ...short]);
    assert.deepEqual(
      served.filter((one) => one.startsWith('long')),
      ['long1', 'long2', 'long3'],
    );
    assert.deepEqual(
      served.filter((one) => one.startsWith('short')),
      ['short1', 'short2', 'short3', 'short4', 'short5', 'short6'],
    );
    assert.ok(served.indexOf('short3') < served.indexOf('long2'), served.join(' '));
  });
});
