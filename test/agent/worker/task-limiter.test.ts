import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertRefused } from '../../rpc/support/refusal.js';
import { TaskLimiter } from '../../../src/agent/worker/task-limiter.js';

function controlledTask(): { readonly task: () => Promise<void>; readonly end: () => void } {
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  return { task: () => ended, end: () => end() };
}

describe('turns', () => {
  test('tasks run one at a time in the order in which they came', async () => {
    const limiter = new TaskLimiter(2);
    const events: string[] = [];
    const task = (name: string) => async (): Promise<void> => {
      events.push(`${name} starts`);
      await new Promise((resolve) => setImmediate(resolve));
      events.push(`${name} ends`);
    };
    await Promise.all(['a', 'b', 'c'].map((name) => limiter.run(task(name))));

    assert.deepEqual(events, ['a starts', 'a ends', 'b starts', 'b ends', 'c starts', 'c ends']);
  });

  test('tasks that may run beside others do so, as many as allowed, and never beside a task that must run alone', async () => {
    const limiter = new TaskLimiter(2);
    const tasks = [true, true, true, false, true].map((untimed) => ({ untimed, ...controlledTask() }));
    const running = new Set<number>();
    const all = tasks.map(({ untimed, task }, index) => {
      const tracked = async (): Promise<void> => {
        running.add(index);
        await task();
        running.delete(index);
      };
      return limiter.run(tracked, { untimed });
    });
    const seen: number[][] = [];
    for (const { end } of tasks) {
      await new Promise((resolve) => setImmediate(resolve));
      seen.push([...running]);
      end();
    }
    await Promise.all(all);

    // The last task waits behind the one that runs alone, although it could run beside the first three.
    assert.deepEqual(seen, [[0, 1], [1, 2], [2], [3], [4]]);
  });

  test('the times of tasks that run beside each other add up to the wall time of all', async () => {
    const limiter = new TaskLimiter(3);
    const first = controlledTask();
    const startMs = performance.now();
    const timed = async (task: () => Promise<unknown>): Promise<number> => {
      const beginMs = limiter.sharedMs;
      await task();
      return limiter.sharedMs - beginMs;
    };
    const wait = (): Promise<unknown> => new Promise((resolve) => setTimeout(resolve, 20));
    const all = [first.task, wait, wait].map((task) => limiter.run(() => timed(task), { untimed: true }));
    await Promise.all(all.slice(1));
    first.end();
    const shares = await Promise.all(all);
    const wallMs = performance.now() - startMs;

    const sumMs = shares.reduce((sum, share) => sum + share, 0);
    assert.ok(sumMs > 15 && sumMs <= wallMs, `${sumMs} of ${wallMs} ms`);
  });

  test('only tasks that wait are told so', async () => {
    const limiter = new TaskLimiter(2);
    const waiting: string[] = [];
    await Promise.all(
      ['a', 'b'].map((name) => limiter.run(() => Promise.resolve(), { onWaiting: () => waiting.push(name) })),
    );

    assert.deepEqual(waiting, ['b']);
  });

  test('a task that fails lets the next one in', async () => {
    const limiter = new TaskLimiter(2);
    const failing = limiter.run(() => Promise.reject(new Error('no')));
    const next = limiter.run(() => Promise.resolve('done'));

    await assert.rejects(failing);
    assert.equal(await next, 'done');
  });

  test('a task that is cancelled while it waits never starts', async () => {
    const limiter = new TaskLimiter(2);
    const first = controlledTask();
    const running = limiter.run(first.task);
    const controller = new AbortController();
    let started = false;
    const cancelled = limiter.run(
      () => {
        started = true;
        return Promise.resolve();
      },
      { signal: controller.signal },
    );
    const last = limiter.run(() => Promise.resolve());
    controller.abort();

    await assertRefused(cancelled, 'cancelled');
    first.end();
    await Promise.all([running, last]);
    assert.equal(started, false);
  });

  test('a task is refused where too many wait', async () => {
    const limiter = new TaskLimiter(2);
    const first = controlledTask();
    const tasks = [limiter.run(first.task)];
    for (let i = 0; i < 32; i++) tasks.push(limiter.run(() => Promise.resolve()));

    const asked = limiter.run(() => Promise.resolve());
    await assertRefused(asked, 'exhausted');
    first.end();
    await Promise.all(tasks);
  });
});
