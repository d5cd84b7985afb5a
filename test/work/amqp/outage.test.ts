import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { openQueue } from '../../../src/work/open-queue.js';
import type { Handled } from '../../../src/work/work-queue.js';
import { until } from '../../support/until.js';
import { message } from '../work-queue-contract.js';
import { needsRabbitMq, openQueueFor, startRabbitMq } from './rabbitmq-process.js';

const DONE: Handled = { kind: 'done' };

/** The limit is against hanging only. Each test has its own broker, and waits. */
const suite = { timeout: 600_000, concurrency: true };

/** As long as the upgrade of a broker takes. */
const OUTAGE_MS = 30_000;

/**
 * RabbitMQ 3.10 may lose a queue if it is killed within half a second after making it: it saves the list of queues that
 * often.
 */
const NEW_QUEUE_MS = 2_000;

describe('a RabbitMQ work queue without its broker', { ...suite, ...needsRabbitMq }, () => {
  it('continues after the broker was killed and away for 30 s, with all work that it had accepted', async (t) => {
    const own = await startRabbitMq(t);
    const warnings: string[] = [];
    const queue = await openQueueFor(t, own.uri, warnings);
    const came: string[] = [];
    let isHeld = true;
    await queue.serve('a', async ({ body }) => {
      came.push(Buffer.from(body).toString());
      while (isHeld) await setTimeout(20);
      return DONE;
    });
    for (const text of ['1', '2', '3']) await queue.publish('a', message(text));
    await until(() => came.length === 1);
    await setTimeout(NEW_QUEUE_MS);
    await own.signal('SIGKILL');
    const published = queue.publish('a', message('4'));
    await setTimeout(OUTAGE_MS);
    await own.start();
    isHeld = false;
    await published;
    await until(() => new Set(came).size === 4);
    await until(async () => (await queue.state('a')).waiting === 0);
    for await (const failed of queue.failed()) assert.fail(failed.reason);
    assert.ok(warnings.some((warning) => /The broker .* cannot be used.*Trying again/.test(warning)));
    assert.ok(warnings.some((warning) => warning.includes('answers again')));
    assert.ok(warnings.every((warning) => !warning.includes('correct-horse')));
  });

  it('continues after the broker was suspended', async (t) => {
    const own = await startRabbitMq(t);
    const queue = await openQueueFor(t, own.uri);
    const came: string[] = [];
    await queue.serve('a', ({ body }) => {
      came.push(Buffer.from(body).toString());
      return Promise.resolve(DONE);
    });
    await own.signal('SIGSTOP');
    const published = queue.publish('a', message('meanwhile'));
    await setTimeout(OUTAGE_MS);
    await own.signal('SIGCONT');
    await published;
    await until(() => came.includes('meanwhile'));
  });

  it('ends soon while the broker is away, also with work to give back, which the broker then has', async (t) => {
    const own = await startRabbitMq(t);
    const queue = await openQueue(own.uri, { onWarning: () => undefined });
    let isAsked = false;
    let isTaken = false;
    const serving = await queue.serve('a', async () => {
      isTaken = true;
      while (!isAsked) await setTimeout(20);
      return { kind: 'returned' };
    });
    await queue.publish('a', message('1'));
    await until(() => isTaken);
    await setTimeout(NEW_QUEUE_MS);
    await own.signal('SIGKILL');
    isAsked = true;
    const closed = serving.close().then(() => queue.close());
    const ended = await Promise.race([closed.then(() => true), setTimeout(OUTAGE_MS, false)]);
    await own.start();
    await closed;
    assert.ok(ended, 'it waits for the broker');
    const again = await openQueueFor(t, own.uri);
    await until(async () => (await again.state('a')).waiting === 1);
  });

  it('ends soon while the broker is suspended', async (t) => {
    const own = await startRabbitMq(t);
    const queue = await openQueue(own.uri, { onWarning: () => undefined });
    const serving = await queue.serve('a', () => Promise.resolve(DONE));
    const watching = await queue.watchFailed(() => undefined);
    await own.signal('SIGSTOP');
    const closed = Promise.all([serving.close(), watching.close()]).then(() => queue.close());
    const ended = await Promise.race([closed.then(() => true), setTimeout(OUTAGE_MS, false)]);
    await own.signal('SIGCONT');
    await closed;
    assert.ok(ended, 'it waits for the broker');
  });
});
