import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it, type TestContext } from 'node:test';
import { collect } from '../../src/base/collect.js';
import { PlatformError } from '../../src/base/errors.js';
import {
  type FailedWork,
  type Handled,
  MAX_BODY_BYTES,
  MAX_DELIVERIES,
  type WorkMessage,
  type WorkQueue,
} from '../../src/work/work-queue.js';
import { assertRefused } from '../rpc/support/refusal.js';
import { until } from '../support/until.js';

const DONE: Handled = { kind: 'done' };

/** A message with a body that names it. */
export function message(text: string): WorkMessage {
  return { id: randomUUID(), body: Buffer.from(text) };
}

function textOf({ body }: WorkMessage): string {
  return Buffer.from(body).toString();
}

/** The requirements on every queue. `open` gives a queue without work each time, and cleans up after the test. */
export function workQueueContract(
  name: string,
  open: (t: TestContext) => Promise<WorkQueue>,
  skip: string | false = false,
): void {
  describe(`${name} work queue`, { timeout: 300_000, skip: skip ?? false }, () => {
    /** Serves a class with this handler. @returns the texts of the messages that arrive */
    const serve = async (
      queue: WorkQueue,
      system: string,
      handler: (text: string) => Handled | Promise<Handled>,
    ): Promise<readonly string[]> => {
      const came: string[] = [];
      await queue.serve(system, async (message) => {
        came.push(textOf(message));
        return handler(textOf(message));
      });
      return came;
    };

    it('delivers work that is published before a client serves, and after', async (t) => {
      const queue = await open(t);
      await queue.publish('a', message('before'));
      const came = await serve(queue, 'a', () => DONE);
      await until(() => came.length === 1);
      await queue.publish('a', message('after'));
      await until(() => came.length === 2);
      assert.deepEqual(came, ['before', 'after']);
    });

    it('separates the work of two classes', async (t) => {
      const queue = await open(t);
      const a = await serve(queue, 'a', () => DONE);
      const b = await serve(queue, 'b', () => DONE);
      await queue.publish('b', message('for b'));
      await queue.publish('a', message('for a'));
      await until(() => a.length + b.length === 2);
      assert.deepEqual([a, b], [['for a'], ['for b']]);
    });

    it('shares work among the clients that serve, and gives each one message at a time', async (t) => {
      const queue = await open(t);
      const releases: (() => void)[] = [];
      const waiting = (): Promise<Handled> => new Promise((resolve) => releases.push(() => resolve(DONE)));
      const first = await serve(queue, 'a', waiting);
      const second = await serve(queue, 'a', waiting);
      for (const text of ['1', '2', '3', '4']) await queue.publish('a', message(text));
      await until(() => first.length === 1 && second.length === 1);
      await until(async () => (await queue.state('a')).waiting === 2);
      assert.deepEqual([first.length, second.length], [1, 1]);
      for (let released = 0; released < 4; released++) {
        await until(() => releases.length > released);
        releases[released]?.();
      }
      await until(() => first.length + second.length === 4);
      assert.deepEqual([...first, ...second].sort(), ['1', '2', '3', '4']);
    });

    it('delivers failed work again, and gives it up after three deliveries, with the last reason', async (t) => {
      const queue = await open(t);
      const heard: FailedWork[] = [];
      await queue.watchFailed((failed) => heard.push(failed));
      let deliveries = 0;
      const came = await serve(queue, 'a', (text) => {
        if (text === 'good') return DONE;
        deliveries++;
        throw new Error(`broken for the time number ${deliveries}`);
      });
      const bad = message('bad');
      await queue.publish('a', bad);
      await until(() => heard.length === 1);
      await queue.publish('a', message('good'));
      await until(() => came.includes('good'));
      assert.deepEqual(came, [...Array.from({ length: MAX_DELIVERIES }, () => 'bad'), 'good']);
      const [failed, ...more] = await collect(queue.failed());
      assert.equal(more.length, 0);
      assert.equal(failed?.message.id, bad.id);
      assert.equal(failed.system, 'a');
      assert.equal(textOf(failed.message), 'bad');
      assert.equal(failed.reason, `broken for the time number ${MAX_DELIVERIES}`);
      assert.equal(heard[0]?.message.id, bad.id);
      assert.equal(heard[0]?.reason, failed.reason);
    });

    it('gives up refused work at once', async (t) => {
      const queue = await open(t);
      const came = await serve(queue, 'a', () => ({ kind: 'refused', reason: 'it is no work' }));
      await queue.publish('a', message('odd'));
      await until(async () => (await collect(queue.failed())).length === 1);
      assert.equal(came.length, 1);
      assert.equal((await collect(queue.failed()))[0]?.reason, 'it is no work');
    });

    it('does not count a delivery that was returned', async (t) => {
      const queue = await open(t);
      let deliveries = 0;
      const came = await serve(queue, 'a', () => (++deliveries <= 2 * MAX_DELIVERIES ? { kind: 'returned' } : DONE));
      await queue.publish('a', message('later'));
      await until(() => came.length === 2 * MAX_DELIVERIES + 1);
      assert.deepEqual(await collect(queue.failed()), []);
    });

    it('keeps work for others when a client stops, after the work under way', async (t) => {
      const queue = await open(t);
      let finish = (): void => {};
      const begun: string[] = [];
      const serving = await queue.serve('a', async (message) => {
        begun.push(textOf(message));
        await new Promise<void>((resolve) => (finish = resolve));
        return DONE;
      });
      await queue.publish('a', message('1'));
      await queue.publish('a', message('2'));
      await until(() => begun.length === 1);
      let isClosed = false;
      const closed = serving.close().then(() => (isClosed = true));
      await queue.publish('a', message('3'));
      assert.equal(isClosed, false);
      finish();
      await closed;
      assert.deepEqual(begun, ['1']);
      const came = await serve(queue, 'a', () => DONE);
      await until(() => came.length === 2);
      assert.deepEqual(came, ['2', '3']);
    });

    it('publishes failed work again on request, or other work in its place', async (t) => {
      const queue = await open(t);
      let isBroken = true;
      const came = await serve(queue, 'a', (text) => {
        return isBroken ? { kind: 'refused', reason: `${text} is broken` } : DONE;
      });
      for (const text of ['same', 'halved', 'left']) await queue.publish('a', message(text));
      await until(async () => (await collect(queue.failed())).length === 3);
      isBroken = false;
      const replaced = await queue.replaceFailed(({ message: failed }) => {
        if (textOf(failed) === 'same') return [failed];
        return textOf(failed) === 'halved' ? [message('half 1'), message('half 2')] : undefined;
      });
      assert.equal(replaced, 2);
      await until(() => came.length === 6);
      assert.deepEqual(came.slice(3).sort(), ['half 1', 'half 2', 'same']);
      await until(async () => (await collect(queue.failed())).length === 1);
      assert.deepEqual(
        (await collect(queue.failed())).map(({ reason }) => reason),
        ['left is broken'],
      );
    });

    it('keeps work that fails again as soon as it is tried again', async (t) => {
      const queue = await open(t);
      const came = await serve(queue, 'a', () => ({ kind: 'refused', reason: 'it is no work' }));
      await queue.publish('a', message('1'));
      await until(async () => (await collect(queue.failed())).length === 1);
      for (let tries = 2; tries < 5; tries++) {
        assert.equal(await queue.replaceFailed(({ message: failed }) => [failed]), 1);
        await until(() => came.length === tries);
        await until(async () => (await collect(queue.failed())).length === 1);
      }
    });

    it('drops failed work on request, and leaves the rest', async (t) => {
      const queue = await open(t);
      await serve(queue, 'a', () => ({ kind: 'refused', reason: 'it is no work' }));
      const twice = message('twice');
      for (const one of [twice, twice, message('left')]) await queue.publish('a', one);
      await until(async () => (await collect(queue.failed())).length === 2);
      const dropped = await queue.replaceFailed((failed) => (failed.message.id === twice.id ? [] : undefined));
      assert.ok(dropped > 0);
      assert.deepEqual(
        (await collect(queue.failed())).map((failed) => textOf(failed.message)),
        ['left'],
      );
    });

    it('lists failed work once if it arrives twice', async (t) => {
      const queue = await open(t);
      const came = await serve(queue, 'a', () => ({ kind: 'refused', reason: 'it is no work' }));
      const twice = message('twice');
      await queue.publish('a', twice);
      await queue.publish('a', twice);
      await until(() => came.length === 2);
      await until(async () => (await collect(queue.failed())).length > 0);
      assert.equal((await collect(queue.failed())).length, 1);
    });

    it('gives the number of serving clients and of waiting messages', async (t) => {
      const queue = await open(t);
      assert.deepEqual(await queue.state('a'), { waiting: 0, serving: 0 });
      await queue.publish('a', message('1'));
      await until(async () => (await queue.state('a')).waiting === 1);
      const serving = await queue.serve('a', () => Promise.resolve(DONE));
      await until(async () => (await queue.state('a')).waiting === 0);
      assert.equal((await queue.state('a')).serving, 1);
      await serving.close();
      assert.equal((await queue.state('a')).serving, 0);
    });

    it('refuses a body that is too large, and accepts the largest one', async (t) => {
      const queue = await open(t);
      const sized = (bytes: number): WorkMessage => ({ id: randomUUID(), body: new Uint8Array(bytes) });
      await assertRefused(queue.publish('a', sized(MAX_BODY_BYTES + 1)), 'usage', /too large/);
      const lengths: number[] = [];
      await queue.serve('a', ({ body }) => {
        lengths.push(body.length);
        return Promise.resolve(DONE);
      });
      await queue.publish('a', sized(MAX_BODY_BYTES));
      await until(() => lengths.length === 1);
      assert.deepEqual(lengths, [MAX_BODY_BYTES]);
    });

    it('accepts nothing after it was closed', async (t) => {
      const queue = await open(t);
      await queue.close();
      await queue.close();
      await assert.rejects(queue.publish('a', message('late')), PlatformError);
      await assert.rejects(queue.state('a'), PlatformError);
    });
  });
}
