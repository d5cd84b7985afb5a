import type { Db, MongoClient } from 'mongodb';
import { warnThroughNode, type StoreOptions } from '../result-store.js';
import { isClosed, isPassing, mongoError, unreachable } from './mongo-error.js';
import { MAX_ATTEMPT_MS, OutageRetry, type OutageRetryOptions } from './outage-retry.js';
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

interface SessionPool {
  readonly sessions: { clear(): void };
  release: () => void;
}

/**
 * Without sessions to end, closing does not wait for a silent server, which ends them after a while by itself. The driver
 * offers no way to leave them.
 */
function leaveSessions(client: MongoClient): void {
  const { sessionPool } = (client as unknown as { readonly s: { readonly sessionPool: SessionPool } }).s;
  sessionPool.sessions.clear();
  sessionPool.release = () => undefined;
}

export class Connection {
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #retry: OutageRetry;
  /** Clients that have been replaced, with the timers that close them. */
  readonly #replaced = new Map<MongoClient, NodeJS.Timeout>();
  #client: MongoClient;
  #closed: Promise<void> | undefined;
  /** Whether the client is closed. Not all of the driver's errors say so. */
  #isEnded = false;

  private constructor(
    private readonly newClient: () => MongoClient,
    private readonly database: string,
    readonly address: string,
    readonly warn: (message: string) => void,
    retry: Pick<OutageRetryOptions, 'giveUpAfterMs' | 'signal'>,
    /** Nothing is created on the server. */
    readonly isOnlyRead: boolean,
  ) {
    this.#client = newClient();
    const reconnect = (): void => this.#reconnect();
    // A cursor may be of a client that has been replaced and closed.
    const mayPass = (thrown: unknown): boolean => isPassing(thrown) || (!this.#isEnded && isClosed(thrown));
    this.#retry = new OutageRetry({ ...retry, address, warn, isPassing: mayPass, reconnect });
  }

  get db(): Db {
    return this.#client.db(this.database);
  }

  /** @throws PlatformError `usage` for a wrong URI; `storage` or `unavailable` if the server cannot be used */
  static async open(uri: string, options: StoreOptions): Promise<Connection> {
    const warn = options.onWarning ?? warnThroughNode;
    const { newClient, database, text } = mongoAddress(uri, {
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
    const connection = new Connection(newClient, database, text, warn, { giveUpAfterMs, signal }, isOnlyRead);
    const ping = (): Promise<unknown> => connection.#ask((db) => db.command({ ping: 1 }));
    try {
      await ping().catch(async (thrown: unknown) => {
        // A command that only reads reports a server that does not answer at once.
        if (isOnlyRead || !isPassing(thrown)) throw thrown;
        warn(unreachable(text, thrown).message);
        await connection.#retry.run(ping);
      });
    } catch (thrown) {
      await connection.close();
      throw isPassing(thrown) ? unreachable(text, thrown) : mongoError(text, 'cannot be opened', thrown);
    }
    return connection;
  }

  /** Makes an idempotent request. `what` completes the sentence of its error: "cannot be read". */
  async run<T>(what: string, request: (db: Db) => Promise<T>): Promise<T> {
    try {
      return await this.#retry.run(() => this.#ask(request));
    } catch (thrown) {
      if (isClosed(thrown)) throw closedError(this.address);
      throw mongoError(this.address, what, thrown);
    }
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
    this.#closed ??= Promise.allSettled(this.#underWay).then(async () => {
      this.#isEnded = true;
      for (const timer of this.#replaced.values()) clearTimeout(timer);
      for (const client of this.#replaced.keys()) leaveSessions(client);
      if (this.#retry.mayBeGone) leaveSessions(this.#client);
      await Promise.all([this.#client, ...this.#replaced.keys()].map((client) => client.close()));
    });
    return this.#closed;
  }

  async #ask<T>(request: (db: Db) => Promise<T>): Promise<T> {
    if (this.#isEnded) throw closedError(this.address);
    // The driver connects by itself only once.
    await this.#client.connect();
    return request(this.db);
  }

  /** The requests of the client that is replaced keep it until each of them has been given up. */
  #reconnect(): void {
    const old = this.#client;
    const close = (): void => {
      this.#replaced.delete(old);
      void old.close().catch(() => undefined);
    };
    this.#replaced.set(old, setTimeout(close, MAX_ATTEMPT_MS).unref());
    this.#client = this.newClient();
  }
}
