import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { FairLoop } from '../../src/rpc/fair-loop.js';

/** Longer than the work that shares one turn. */
const LONG_MS = 8;

function busy(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}

/** Work that takes time on a clock of its own. `served` has the clients in their order, with the iteration of each. */
function onOwnClock(t: TestContext) {
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  const loop = new FairLoop();
  const served: string[] = [];
  const iterations: number[] = [];
  let iteration = 0;
  const tick = setInterval(() => undefined, 1000);
  let isOver = false;
  const count = (): void => {
    iteration++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  t.after(() => {
    isOver = true;
    clearInterval(tick);
  });
  const work = async (client: string, ms: number): Promise<void> => {
    await loop.take(client);
    nowMs += ms;
    served.push(client);
    iterations.push(iteration);
  };
  return { work, served, iterations };
}

describe('turns of the event loop', () => {
  test('are shared by short work, up to five milliseconds, with iterations for other work between them', async (t) => {
    const { work, iterations } = onOwnClock(t);
    await Promise.all(Array.from({ length: 9 }, () => work('a', 2)));
    const turns = [...new Set(iterations)];
    assert.deepEqual(
      turns.map((turn) => iterations.filter((one) => one === turn).length),
      [3, 3, 3],
    );
    const [first = NaN, second = NaN, third = NaN] = turns;
    assert.deepEqual([second - first, third - second], [3, 3]);
  });

  test('go to the client whose turns have taken the least time', async (t) => {
    const { work, served } = onOwnClock(t);
    const long = Array.from({ length: 2 }, () => work('long', 30));
    const short = Array.from({ length: 5 }, () => work('short', 10));
    await Promise.all([...long, ...short]);
    assert.equal(served.join(' '), 'long short short short long short short');
  });

  test('count the time that a client has taken when it asks again', async (t) => {
    const { work, served } = onOwnClock(t);
    const twice = async (): Promise<void> => {
      await work('long', 100);
      await new Promise((resolve) => setImmediate(resolve));
      await work('long', 100);
    };
    await Promise.all([twice(), ...Array.from({ length: 5 }, () => work('short', 20))]);
    assert.equal(served.join(' '), 'long short short short short short long');
  });

  test('of a client that had none for a while are as many as those of the one that is served', async (t) => {
    const { work, served } = onOwnClock(t);
    for (let i = 0; i < 3; i++) await work('early', 10);
    served.length = 0;
    await Promise.all([...['early', 'early', 'early'], ...['late', 'late', 'late']].map((client) => work(client, 10)));
    assert.deepEqual(
      [served.slice(0, 2), served.slice(2, 4), served.slice(4)].map((pair) => pair.toSorted()),
      [1, 2, 3].map(() => ['early', 'late']),
    );
  });

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
