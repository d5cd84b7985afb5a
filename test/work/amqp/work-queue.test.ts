import { Connection } from 'rabbitmq-client';
import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import { collect } from '../../../src/base/collect.js';
import { amqpError } from '../../../src/work/amqp/amqp-error.js';
import { Broker } from '../../../src/work/amqp/broker.js';
import { parseBrokerUser } from '../../../src/work/amqp/address.js';
import { AmqpWorkQueue } from '../../../src/work/amqp/work-queue.js';
import { openQueue } from '../../../src/work/open-queue.js';
import { type FailedWork, type Handled, MAX_BODY_BYTES, type WorkQueue } from '../../../src/work/work-queue.js';
import type { Lifetime } from '../../support/lifetime.js';
import { fast } from '../../store/fast-clock.js';
import { assertRefused, refusal } from '../../rpc/support/refusal.js';
import { until } from '../../support/until.js';
import { message, workQueueContract } from '../work-queue-contract.js';
import { needsRabbitMq, openQueueFor, type RabbitMq, startRabbitMq } from './rabbitmq-process.js';

const DONE: Handled = { kind: 'done' };

/** Against hanging only. */
const deadline = { timeout: 600_000 };

const undo: (() => unknown)[] = [];
const untilTheEnd: Lifetime = { after: (one) => undo.push(one) };
let broker: RabbitMq | undefined;

before(async () => {
  if (needsRabbitMq.skip === false) broker = await startRabbitMq(untilTheEnd);
});
after(async () => {
  for (const one of undo.reverse()) await one();
});

function running(): RabbitMq {
  assert.ok(broker);
  return broker;
}

/** Runs `work` with another client of the broker. */
async function withClient<T>(uri: string, work: (client: Connection) => Promise<T>): Promise<T> {
  const client = new Connection(uri);
  client.on('error', () => undefined);
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

async function openEmpty(t: TestContext): Promise<WorkQueue> {
  const { uri } = running();
  const queue = await openQueueFor(t, uri);
  t.after(() =>
    withClient(uri, async (client) => {
      for (const name of ['mlmodelscope.work.a', 'mlmodelscope.work.b', 'mlmodelscope.failed']) {
        await client.queueDelete(name);
      }
    }),
  );
  return queue;
}

workQueueContract('RabbitMQ', openEmpty, needsRabbitMq.skip);

describe('a RabbitMQ work queue', { ...deadline, ...needsRabbitMq }, () => {
  it('delivers to one client the work that another one publishes', async (t) => {
    const queue = await openEmpty(t);
    const other = await openQueueFor(t, running().uri);
    const came: string[] = [];
    await other.serve('a', ({ body }) => {
      came.push(Buffer.from(body).toString());
      return Promise.resolve(DONE);
    });
    await queue.publish('a', message('hello'));
    await until(() => came.length === 1);
    assert.deepEqual(came, ['hello']);
  });

  it('gives up work if each agent that takes it ends, and reports it', async (t) => {
    const queue = await openEmpty(t);
    const heard: FailedWork[] = [];
    await queue.watchFailed((failed) => heard.push(failed));
    const deadly = message('deadly');
    // The queue of dead letters exists once a client has served.
    await (await queue.serve('a', () => Promise.resolve(DONE))).close();
    await queue.publish('a', deadly);
    for (let deaths = 0; deaths < 3; deaths++) {
      await withClient(running().uri, async (client) => {
        const channel = await client.acquire();
        let isTaken = false;
        await channel.basicConsume({ queue: 'mlmodelscope.work.a' }, () => (isTaken = true));
        await until(() => isTaken);
        client.unsafeDestroy();
      });
    }
    await until(() => heard.length > 0);
    assert.equal(heard[0]?.message.id, deadly.id);
    const [failed] = await collect(queue.failed());
    assert.equal(failed?.message.id, deadly.id);
    assert.equal(failed.system, 'a');
    assert.match(failed.reason, /3 times in a row, the agent that worked on it ended/);
    assert.match(failed.failedAt ?? '', /^20\d\d-/);
  });

  it('gives up messages of others that are too large or of any other type, and continues', async (t) => {
    const queue = await openEmpty(t);
    const came: string[] = [];
    await queue.serve('a', ({ body }) => {
      const text = Buffer.from(body).toString();
      came.push(text);
      return Promise.resolve(text === 'good' ? DONE : { kind: 'refused', reason: 'the message is no work' });
    });
    await withClient(running().uri, async (client) => {
      const publisher = client.createPublisher({ confirm: true });
      await publisher.send('mlmodelscope.work.a', Buffer.alloc(MAX_BODY_BYTES + 1));
      await publisher.send('mlmodelscope.work.a', { measure: 'this' });
      await publisher.send('mlmodelscope.work.a', 'a text');
      await publisher.close();
    });
    await queue.publish('a', message('good'));
    await until(() => came.includes('good'));
    assert.deepEqual(came, ['{"measure":"this"}', 'a text', 'good']);
    const reasons = (await collect(queue.failed())).map(({ reason }) => reason).sort();
    assert.deepEqual(reasons, [
      `the message has ${MAX_BODY_BYTES + 1} bytes, more than ${MAX_BODY_BYTES}`,
      'the message is no work',
      'the message is no work',
    ]);
  });
});

describe('a queue that others declared with other settings', { ...deadline, ...needsRabbitMq }, () => {
  it('is an error when work is served or published', async (t) => {
    const queue = await openEmpty(t);
    await withClient(running().uri, (client) => client.queueDeclare({ queue: 'mlmodelscope.work.a', durable: true }));
    const other = refusal('unsupported', /queue of this name with other settings.*rabbitmqctl delete_queue/);
    await assert.rejects(
      queue.serve('a', () => Promise.resolve(DONE)),
      other,
    );
    await assert.rejects(queue.publish('a', message('1')), other);
  });

  it('is a warning for a client that serves already, and continues once the queue is deleted', async (t) => {
    const warnings: string[] = [];
    const queue = await openQueueFor(t, running().uri, warnings);
    const publishing = await openEmpty(t);
    let came = 0;
    await queue.serve('a', () => {
      came++;
      return Promise.resolve(DONE);
    });
    await withClient(running().uri, async (client) => {
      await client.queueDelete('mlmodelscope.work.a');
      await client.queueDeclare({ queue: 'mlmodelscope.work.a', durable: true });
      await until(() => warnings.length > 0);
      await client.queueDelete('mlmodelscope.work.a');
    });
    await publishing.publish('a', message('1'));
    await until(() => came === 1);
    assert.equal(warnings.length, 1);
    assert.match(warnings[0] ?? '', /with other settings.*No work is taken for now; trying again\./);
  });
});

describe('a broker that cannot be used', { ...deadline, ...needsRabbitMq }, () => {
  const options = { onWarning: () => undefined };

  it('is an error if no broker listens', async () => {
    await assert.rejects(
      openQueue('amqp://alice:secret@127.0.0.1:1', options),
      (error) =>
        refusal('unavailable', /no broker listens there: start it/)(error) && !String(error).includes('secret'),
    );
  });

  it('is an error if the address is invalid', async () => {
    for (const uri of ['rabbit', 'http://127.0.0.1', 'amqp://', 'amqp://alice:secret@']) {
      await assert.rejects(
        openQueue(uri, options),
        (error) => refusal('usage', /amqp:\/\/USER:PASSWORD@HOST/)(error) && !String(error).includes('secret'),
      );
    }
  });

  it('is an error if it does not know the user or the virtual host', async () => {
    const { address, uri } = running();
    const asked = openQueue(`amqp://mallory:wrong@${address}`, options);
    await assertRefused(asked, 'unauthenticated', /it refuses the user "mallory": check the name/);
    await assertRefused(openQueue(`${uri}/nowhere`, options), 'unauthenticated', /no such virtual host/);
  });

  it('names the user that an address without one means', () => {
    const thrown = Object.assign(new Error('refused'), { code: 'ACCESS_REFUSED' });
    const { message } = amqpError({ address: 'amqp://mq', user: parseBrokerUser('amqp://mq') }, thrown);
    assert.match(message, /^The broker amqp:\/\/mq cannot be used: it refuses the user guest \(the address names none/);
    assert.match(parseBrokerUser('amqp://alice:secret@mq/vhost'), /^the user "alice"$/);
  });

  it('is an error if the user has no rights', async (t) => {
    const queue = await openQueueFor(t, running().withoutRights);
    const noRights = refusal('unauthenticated', /rabbitmqctl set_permissions/);
    await assert.rejects(queue.publish('a', message('1')), noRights);
    await assert.rejects(
      queue.serve('a', () => Promise.resolve(DONE)),
      noRights,
    );
    await assert.rejects(collect(queue.failed()), noRights);
  });

  it('is an error if its disk is full', async (t) => {
    const own = await startRabbitMq(t, { isFull: true });
    const warnings: string[] = [];
    const settings = { onWarning: (warning: string) => warnings.push(warning) };
    const taking = await Broker.connect(own.uri, own.address, settings);
    const publishing = await Broker.connect(own.uri, own.address, settings);
    const queue = new AmqpWorkQueue(taking, publishing, fast);
    t.after(() => queue.close());
    await assertRefused(queue.publish('a', message('1')), 'unavailable', /takes no messages.*disk.*free space/);
    assert.ok(warnings.some((warning) => /disk/.test(warning)));
  });
});
