import type { Db, Document, MongoClient } from 'mongodb';
import { warnThroughNode, type StoreOptions } from '../result-store.js';
import { isClosed, isPassing, mongoError, unreachable } from './mongo-error.js';
import { OutageRetry } from './outage-retry.js';
import { mongoAddress } from './address.js';
import { closedError, unreadableMessage } from '../storage-error.js';

/** Longer than a restart, shorter than a user waits; the URI's `serverSelectionTimeoutMS` overrides it. */
const GIVE_UP_AFTER_MS = 90_000;

/** An available server answers within this time. After it, {@link OutageRetry} waits, and the driver tries again. */
const SELECTION_MS = 2_000;
const CONNECT_MS = 10_000;

/** A connection that is silent for this long is closed, and its requests are repeated: several times before giving up. */
const SILENCE_MS = 25_000;

/** The most requests at once; a store has few users. */
const CONNECTIONS = 16;

export class Connection {
  readonly #underWay = new Set<Promise<unknown>>();
  readonly db: Db;
  #closed: Promise<void> | undefined;
  /** Whether the client is closed. Not all of the driver's errors say so. */
  #isEnded = false;

  private constructor(
    private readonly client: MongoClient,
    database: string,
    readonly address: string,
    readonly warn: (message: string) => void,
    private readonly retry: OutageRetry,
    /** Nothing is created on the server. */
    readonly isOnlyRead: boolean,
  ) {
    this.db = client.db(database);
  }

  /** @throws PlatformError `usage` for a wrong URI; `storage` or `unavailable` if the server cannot be used */
  static async open(uri: string, options: StoreOptions): Promise<Connection> {
    const warn = options.onWarning ?? warnThroughNode;
    const { client, database, text } = mongoAddress(uri, {
      appName: 'mlmodelscope',
      serverSelectionTimeoutMS: SELECTION_MS,
      connectTimeoutMS: CONNECT_MS,
      socketTimeoutMS: SILENCE_MS,
      maxPoolSize: CONNECTIONS,
      retryWrites: true,
      retryReads: true,
      writeConcern: { w: 'majority' },
      ignoreUndefined: true,
    });
    const asked = /[?&]serverSelectionTimeoutMS=(\d{1,9})(?:&|$)/i.exec(uri)?.[1];
    const giveUpAfterMs = asked === undefined ? GIVE_UP_AFTER_MS : Number(asked);
    const { signal } = options;
    const isOnlyRead = options.access === 'read';
    const retry = new OutageRetry({ address: text, warn, isPassing, giveUpAfterMs, signal });
    const connection = new Connection(client, database, text, warn, retry, isOnlyRead);
    const ping = async (): Promise<void> => {
      // The driver connects by itself only once.
      await client.connect();
      await connection.db.command({ ping: 1 });
    };
    try {
      await ping().catch(async (thrown: unknown) => {
        // A command that only reads reports a server that does not answer at once.
        if (isOnlyRead || !isPassing(thrown)) throw thrown;
        warn(unreachable(text, thrown).message);
        await retry.run(ping);
      });
    } catch (thrown) {
      await client.close();
      throw isPassing(thrown) ? unreachable(text, thrown) : mongoError(text, 'cannot be opened', thrown);
    }
    return connection;
  }

  /** Makes an idempotent request. `what` completes the sentence of its error: "cannot be read". */
  async run<T>(what: string, request: (db: Db) => Promise<T>): Promise<T> {
    if (this.#isEnded) throw closedError(this.address);
    try {
      return await this.retry.run(() => request(this.db));
    } catch (thrown) {
      if (isClosed(thrown)) throw closedError(this.address);
      throw mongoError(this.address, what, thrown);
    }
  }

  command(what: string, command: Document): Promise<Document> {
    return this.run(what, (db) => db.command(command));
  }

  requireOpen(): void {
    if (this.#closed !== undefined) throw closedError(this.address);
  }

  /** Keeps the connection from closing until the work is done. */
  async track<T>(work: Promise<T>): Promise<T> {
    this.#underWay.add(work);
    try {
      return await work;
    } finally {
      this.#underWay.delete(work);
    }
  }

  warnOf(problems: readonly string[]): void {
    if (problems.length > 0) this.warn(unreadableMessage(this.address, problems));
  }

  close(): Promise<void> {
    this.#closed ??= Promise.allSettled(this.#underWay).then(() => {
      this.#isEnded = true;
      return this.client.close();
    });
    return this.#closed;
  }
}
