import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Turns } from '../../../src/agent/worker/turns.js';
import { PlatformError } from '../../../src/base/errors.js';

/** A task that the test ends. */
function controlledTask(): { readonly task: () => Promise<void>; readonly end: () => void } {
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  return { task: () => ended, end: () => end() };
}

function hasCode(code: string): (error: unknown) => boolean {
  return (error) => error instanceof PlatformError && error.code === code;
}

describe('turns', () => {
  test('tasks run one at a time in the order in which they came', async () => {
    const turns = new Turns();
    const events: string[] = [];
    const task = (name: string) => async (): Promise<void> => {
      events.push(`${name} starts`);
      await new Promise((resolve) => setImmediate(resolve));
      events.push(`${name} ends`);
    };
    await Promise.all(['a', 'b', 'c'].map((name) => turns.take(task(name))));

    assert.deepEqual(events, ['a starts', 'a ends', 'b starts', 'b ends', 'c starts', 'c ends']);
  });

  test('only waiting tasks are informed', async () => {
    const turns = new Turns();
    const waiting: string[] = [];
    await Promise.all(
      ['a', 'b'].map((name) => turns.take(() => Promise.resolve(), { onWaiting: () => waiting.push(name) })),
    );

    assert.deepEqual(waiting, ['b']);
  });

  test('a task that fails lets the next one in', async () => {
    const turns = new Turns();
    const failing = turns.take(() => Promise.reject(new Error('no')));
    const next = turns.take(() => Promise.resolve('done'));

    await assert.rejects(failing);
    assert.equal(await next, 'done');
  });

  test('a task that is cancelled while it waits never starts', async () => {
    const turns = new Turns();
    const first = controlledTask();
    const running = turns.take(first.task);
    const controller = new AbortController();
    let started = false;
    const cancelled = turns.take(
      () => {
        started = true;
        return Promise.resolve();
      },
      { signal: controller.signal },
    );
    const last = turns.take(() => Promise.resolve());
    controller.abort();

    await assert.rejects(cancelled, hasCode('cancelled'));
    first.end();
    await Promise.all([running, last]);
    assert.equal(started, false);
  });

  test('a crowd is sent away', async () => {
    const turns = new Turns();
    const first = controlledTask();
    const tasks = [turns.take(first.task)];
    for (let i = 0; i < 32; i++) tasks.push(turns.take(() => Promise.resolve()));

    await assert.rejects(
      turns.take(() => Promise.resolve()),
      hasCode('exhausted'),
    );
    first.end();
    await Promise.all(tasks);
  });
});
