import {
  type AsyncMessage,
  type Channel,
  type Consumer,
  ConsumerStatus,
  type Envelope,
  type Publisher,
} from 'rabbitmq-client';
import { codeOf, messageOf, PlatformError } from '../../base/errors.js';
import { type Clock, monotonicClock } from '../../base/clock.js';
import { keepTrying } from '../../base/keep-trying.js';
import {
  checkBody,
  queueClosedError,
  type FailedWork,
  type Handled,
  MAX_BODY_BYTES,
  MAX_DELIVERIES,
  type Ongoing,
  type QueueState,
  type WorkHandler,
  type WorkMessage,
  type WorkQueue,
} from '../work-queue.js';
import { amqpError } from './amqp-error.js';
import { type Broker, untilClosed } from './broker.js';
import { deliveriesBefore, envelopeOfFailed, envelopeTo, failedIn, workIn } from './carried.js';
import { FAILED, FAILED_BINDING, FAILED_EXCHANGE, FAILED_QUEUE, workQueue } from './topology.js';

/** A broker that is unavailable, or accepts no messages, for this long causes an error. */
const GIVE_UP_MS = 2 * 60_000;

/** Then the broker takes work back when the connection ends, which counts as a failed delivery. */
const RETURN_LIMIT_MS = 3_000;

/** Longest wait for a broker that does not answer when something of it is closed: long enough to give work back. */
const CLOSE_LIMIT_MS = 10_000;

const FIRST_PAUSE_MS = 200;
const MAX_PAUSE_MS = 5_000;

/** A quorum queue for each class of systems, and one for work that was given up. A lost connection is restored. */
export class AmqpWorkQueue implements WorkQueue {
  readonly #consumers = new Set<Consumer>();
  readonly #publisher: Publisher;
  #closed: Promise<void> | undefined;

  /** @param publishing another connection to the same broker, which may block a connection that publishes */
  constructor(
    private readonly broker: Broker,
    private readonly publishing: Broker,
    private readonly clock: Clock = monotonicClock,
  ) {
    this.#publisher = publishing.connection.createPublisher({ confirm: true });
  }

  async publish(system: string, message: WorkMessage, limitMs?: number): Promise<void> {
    checkBody(message);
    const params = workQueue(system);
    await this.#withPatience(async () => {
      // If the queue was deleted, the message would vanish.
      await this.publishing.connection.queueDeclare(params);
      await this.#send(envelopeTo(params.queue ?? '', message), message.body);
    }, limitMs);
  }

  async serve(system: string, handler: WorkHandler): Promise<Ongoing> {
    const params = workQueue(system);
    await this.#withPatience(() => this.broker.onChannel((channel) => declareAll(channel, params)));
    const consumer = this.broker.connection.createConsumer(
      { queue: params.queue ?? '', queueOptions: params, qos: { prefetchCount: 1 }, concurrency: 1 },
      (message) => this.#handle(system, message, handler),
    );
    const started = await this.#started(consumer);
    const closing = new AbortController();
    void this.#reportRefusals(consumer, params, closing.signal);
    return {
      close: () => {
        closing.abort();
        return started.close();
      },
    };
  }

  /** Warns when the broker refuses to deliver again: the client itself says nothing. */
  async #reportRefusals(consumer: Consumer, params: ReturnType<typeof workQueue>, signal: AbortSignal): Promise<void> {
    let isRefused = false;
    for (;;) {
      await this.clock.sleep(MAX_PAUSE_MS, signal);
      if (signal.aborted || this.#closed !== undefined) return;
      const isServing = consumer.consumerTag !== '';
      if (isServing || isRefused) {
        isRefused &&= !isServing;
        continue;
      }
      try {
        await this.broker.onChannel((channel) => declareAll(channel, params));
      } catch (thrown) {
        const error = amqpError(this.broker, thrown);
        if (error.code === 'unavailable') continue;
        isRefused = true;
        this.publishing.warn(`${error.message} No work is taken for now; trying again.`);
      }
    }
  }

  state(system: string): Promise<QueueState> {
    return this.#withPatience(async () => {
      const queue = workQueue(system).queue ?? '';
      try {
        return await this.broker.onChannel(async (channel) => {
          const { messageCount, consumerCount } = await channel.queueDeclare({ queue, passive: true });
          return { waiting: messageCount, serving: consumerCount };
        });
      } catch (thrown) {
        if (codeOf(thrown) === 'NOT_FOUND') return { waiting: 0, serving: 0 };
        throw thrown;
      }
    });
  }

  async watchFailed(listener: (failed: FailedWork) => void): Promise<Ongoing> {
    await this.#withPatience(() => this.broker.onChannel((channel) => channel.exchangeDeclare(FAILED_EXCHANGE)));
    const consumer = this.broker.connection.createConsumer(
      {
        queue: '',
        queueOptions: { exclusive: true, autoDelete: true },
        queueBindings: [{ exchange: FAILED }],
        noAck: true,
      },
      (message) => listener(failedIn(message)),
    );
    return this.#started(consumer);
  }

  async *failed(): AsyncIterable<FailedWork> {
    await this.#once(() => this.broker.onChannel((channel) => declareFailed(channel)));
    const channel = await this.#once(() => this.broker.connection.acquire());
    try {
      const ids = new Set<string>();
      for (;;) {
        const message = await this.#once(() => channel.basicGet({ queue: FAILED }));
        if (message === undefined) return;
        const failed = failedIn(message);
        if (!ids.has(failed.message.id)) yield failed;
        ids.add(failed.message.id);
      }
    } finally {
      // All messages that were taken are requeued.
      await channel.close().catch(() => undefined);
    }
  }

  replaceFailed(by: (failed: FailedWork) => readonly WorkMessage[] | undefined): Promise<number> {
    return this.#once(() =>
      this.broker.onChannel(async (channel) => {
        await declareFailed(channel);
        const published = new Set<string>();
        for (let replaced = 0; ;) {
          const message = await channel.basicGet({ queue: FAILED });
          if (message === undefined) return replaced;
          const failed = failedIn(message);
          // Work that was published may have failed again already. Messages that are not acknowledged stay.
          const messages = published.has(failed.message.id) ? undefined : by(failed);
          if (messages === undefined) continue;
          for (const one of messages) await this.publish(failed.system, one);
          channel.basicAck({ deliveryTag: message.deliveryTag });
          if (messages.length > 0) published.add(failed.message.id);
          replaced++;
        }
      }),
    );
  }

  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async #close(): Promise<void> {
    const consumers = Promise.allSettled([...this.#consumers].map((consumer) => consumer.close()));
    await untilClosed(
      consumers.then(() => this.#publisher.close()),
      CLOSE_LIMIT_MS,
    );
    await Promise.all([this.broker.close(), this.publishing.close()]);
  }

  async #started(consumer: Consumer): Promise<Ongoing> {
    this.#consumers.add(consumer);
    // The client tries again, and the connection itself reports its loss.
    consumer.on('error', () => undefined);
    const close = async (): Promise<void> => {
      await untilClosed(consumer.close(), CLOSE_LIMIT_MS);
      this.#consumers.delete(consumer);
    };
    try {
      await this.#orGiveUp(new Promise<void>((resolve) => consumer.once('ready', resolve)));
    } catch (thrown) {
      await close();
      throw thrown;
    }
    return { close };
  }

  async #handle(system: string, carried: AsyncMessage, handler: WorkHandler): Promise<ConsumerStatus> {
    const message = workIn(carried);
    const handled = await this.#outcome(message, carried, handler);
    switch (handled.kind) {
      case 'done':
        return ConsumerStatus.ACK;
      case 'failed':
        return ConsumerStatus.REQUEUE;
      case 'returned':
        // Published again, because a requeued message counts as a failed delivery.
        return this.publish(system, message, RETURN_LIMIT_MS).then(
          () => ConsumerStatus.ACK,
          () => ConsumerStatus.REQUEUE,
        );
      case 'refused': {
        const failedAt = new Date().toISOString();
        const failed = { message, system, reason: handled.reason, failedAt };
        await this.#withPatience(async () => {
          await declareFailed(this.publishing.connection);
          await this.#send(envelopeOfFailed(failed), message.body);
        });
        return ConsumerStatus.ACK;
      }
    }
  }

  async #outcome(
    message: WorkMessage,
    carried: AsyncMessage,
    handler: WorkHandler,
  ): Promise<Handled | { readonly kind: 'failed' }> {
    if (message.body.length > MAX_BODY_BYTES) {
      return { kind: 'refused', reason: `the message has ${message.body.length} bytes, more than ${MAX_BODY_BYTES}` };
    }
    try {
      return await handler(message);
    } catch (thrown) {
      if (deliveriesBefore(carried) + 1 < MAX_DELIVERIES) return { kind: 'failed' };
      return { kind: 'refused', reason: messageOf(thrown) };
    }
  }

  #send(envelope: Envelope, body: Uint8Array): Promise<void> {
    return this.#publisher.send(envelope, Buffer.from(body.buffer, body.byteOffset, body.length));
  }

  async #once<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closed !== undefined) throw queueClosedError();
    try {
      return await work();
    } catch (thrown) {
      throw amqpError(this.broker, thrown);
    }
  }

  async #withPatience<T>(work: () => Promise<T>, limitMs?: number): Promise<T> {
    const ended = new AbortController();
    const attempts = keepTrying(() => this.#once(work), {
      firstPauseMs: FIRST_PAUSE_MS,
      longestPauseMs: MAX_PAUSE_MS,
      isPassing: (thrown) =>
        thrown instanceof PlatformError && thrown.code === 'unavailable' && this.#closed === undefined,
      signal: ended.signal,
      clock: this.clock,
    });
    try {
      return await this.#orGiveUp(attempts, limitMs);
    } finally {
      ended.abort();
      attempts.catch(() => undefined);
    }
  }

  /** @throws PlatformError `unavailable` after a limited time */
  async #orGiveUp<T>(work: Promise<T>, limitMs = GIVE_UP_MS): Promise<T> {
    const ended = new AbortController();
    const givenUp = async (): Promise<never> => {
      await this.clock.sleep(limitMs, ended.signal);
      const silent = `The broker ${this.broker.address} has confirmed nothing for ${limitMs / 1000} s.`;
      const advice = 'Check that it runs and can be reached from here.';
      throw this.publishing.refusal ?? new PlatformError('unavailable', `${silent} ${advice}`);
    };
    try {
      return await Promise.race([work, givenUp()]);
    } finally {
      ended.abort();
    }
  }
}

type Declaring = Pick<Channel, 'queueDeclare' | 'exchangeDeclare' | 'queueBind'>;

async function declareFailed(on: Declaring): Promise<void> {
  await on.exchangeDeclare(FAILED_EXCHANGE);
  await on.queueDeclare(FAILED_QUEUE);
  await on.queueBind(FAILED_BINDING);
}

async function declareAll(on: Declaring, work: ReturnType<typeof workQueue>): Promise<void> {
  await declareFailed(on);
  await on.queueDeclare(work);
}
