import { setTimeout } from 'node:timers/promises';
import { type Channel, Connection } from 'rabbitmq-client';
import { PlatformError } from '../../base/errors.js';
import { amqpError } from './amqp-error.js';
import { parseBrokerUser } from './address.js';

/** Seconds between two heartbeats. A broker or client without a heartbeat for about four intervals counts as gone. */
const HEARTBEAT_S = 10;

/** The largest frame that RabbitMQ accepts by default. */
const FRAME_BYTES = 128 * 2 ** 10;

const FIRST_PAUSE_MS = 200;
const MAX_PAUSE_MS = 5_000;

/** Longest wait for a channel. */
const ACQUIRE_LIMIT_MS = 5_000;

const CLOSE_LIMIT_MS = 3_000;

export interface BrokerOptions {
  readonly onWarning: (message: string) => void;
  readonly caPem?: Buffer | undefined;
}

export class Broker {
  /** Why the broker accepts no published messages; undefined while it accepts them. */
  refusal: PlatformError | undefined;

  private constructor(
    readonly connection: Connection,
    readonly address: string,
    readonly user: string,
    readonly warn: BrokerOptions['onWarning'],
  ) {}

  /** Later, a lost connection is retried until it is restored. @throws PlatformError as amqp-error.ts says */
  static async connect(uri: string, address: string, { onWarning, caPem }: BrokerOptions): Promise<Broker> {
    const connection = new Connection({
      url: uri,
      connectionName: 'mlmodelscope',
      heartbeat: HEARTBEAT_S,
      frameMax: FRAME_BYTES,
      retryLow: FIRST_PAUSE_MS,
      retryHigh: MAX_PAUSE_MS,
      acquireTimeout: ACQUIRE_LIMIT_MS,
      ...(caPem === undefined || !address.startsWith('amqps:') ? {} : { tls: { ca: caPem } }),
    });
    const broker = new Broker(connection, address, parseBrokerUser(uri), onWarning);
    let isConnected = false;
    let isLost = false;
    await new Promise<void>((resolve, reject) => {
      connection.on('connection', () => {
        if (isLost) onWarning(`the broker ${address} answers again`);
        isLost = false;
        isConnected = true;
        broker.refusal = undefined;
        resolve();
      });
      connection.on('error', (error: unknown) => {
        if (isConnected && !isLost) onWarning(`${amqpError(broker, error).message} Trying again until it answers.`);
        if (!isConnected) reject(amqpError(broker, error));
        isLost = true;
      });
    }).catch((error: unknown) => {
      connection.unsafeDestroy();
      throw error;
    });
    connection.on('connection.blocked', (reason) => {
      const advice = 'free space on its machine, or lower its limits (disk_free_limit, vm_memory_high_watermark)';
      const message = `The broker ${address} takes no messages, because it is ${reason}: ${advice}.`;
      broker.refusal = new PlatformError('unavailable', message);
      onWarning(message);
    });
    connection.on('connection.unblocked', () => {
      broker.refusal = undefined;
      onWarning(`the broker ${address} takes messages again`);
    });
    return broker;
  }

  /** Runs work on its own channel. Messages taken on it and not acknowledged are requeued. @throws as the client */
  async onChannel<T>(work: (channel: Channel) => Promise<T>): Promise<T> {
    const channel = await this.connection.acquire();
    try {
      return await work(channel);
    } finally {
      await channel.close().catch(() => undefined);
    }
  }

  async close(): Promise<void> {
    await untilClosed(this.connection.close(), CLOSE_LIMIT_MS);
    this.connection.unsafeDestroy();
  }
}

/** Waits until something of a broker is closed, or could not be; for a limited time, since the broker may not answer. */
export async function untilClosed(closing: Promise<unknown>, limitMs: number): Promise<void> {
  const ended = new AbortController();
  const limit = setTimeout(limitMs, undefined, { signal: ended.signal });
  await Promise.race([closing, limit]).catch(() => undefined);
  ended.abort();
}
