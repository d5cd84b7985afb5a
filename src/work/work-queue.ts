import { PlatformError } from '../base/errors.js';

/** Work on its way, in bytes. Queues do not read the body. */
export interface WorkMessage {
  /** Unique for each piece of work. A message that is delivered twice is one piece of work. */
  readonly id: string;
  readonly body: Uint8Array;
}

/**
 * How the handling of a message ended. A handler that throws has failed: the message is delivered again, and given up
 * after {@link MAX_DELIVERIES}.
 */
export type Handled =
  | { readonly kind: 'done' }
  /** No agent can do this work: it is given up at once. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** The work was not tried: it goes back to the queue for other agents, and this delivery does not count. */
  | { readonly kind: 'returned' };

export type WorkHandler = (message: WorkMessage) => Promise<Handled>;

export interface FailedWork {
  readonly message: WorkMessage;
  /** The class of systems of the work; '' for a message of others that names none. */
  readonly system: string;
  /** One sentence, without a full stop. */
  readonly reason: string;
  /** ISO 8601 in UTC; undefined if the queue does not know. */
  readonly failedAt: string | undefined;
}

export interface QueueState {
  readonly waiting: number;
  readonly serving: number;
}

/** An activity that continues until it is closed. */
export interface Ongoing {
  /** Resolves when the last handler that was called has ended. May be called again. */
  close(): Promise<void>;
}

/** Deliveries of a message before it is given up. */
export const MAX_DELIVERIES = 3;

/** Longest body of a message. RabbitMQ 4 accepts 16 MiB by default. */
export const MAX_BODY_BYTES = 15 * 2 ** 20;

export function queueClosedError(): PlatformError {
  return new PlatformError('unavailable', 'the work queue has been closed; open it again to use it');
}

/**
 * Distributes work for classes of systems. An agent that serves the class does accepted work at least once, or the work
 * is given up with a reason. Every method throws a PlatformError: `unavailable` if the queue's broker is unavailable or
 * accepts no messages for too long, `unauthenticated` if it refuses this user or an operation.
 */
export interface WorkQueue {
  /**
   * Resolves when the message cannot get lost any more.
   *
   * @param system the class; see {@link classOf}
   * @throws PlatformError `usage` for a body that is too large
   */
  publish(system: string, message: WorkMessage): Promise<void>;

  /**
   * Takes work, one message at a time, until the result is closed. Resolves when the queue delivers to this handler.
   */
  serve(system: string, handler: WorkHandler): Promise<Ongoing>;

  state(system: string): Promise<QueueState>;

  /**
   * Calls the listener with all work that is given up from now on. It may get the same work more than once, and misses
   * work that is given up while the broker is unavailable.
   */
  watchFailed(listener: (failed: FailedWork) => void): Promise<Ongoing>;

  /** All work that was given up and not tried again since. */
  failed(): AsyncIterable<FailedWork>;

  /**
   * Replaces work that was given up.
   *
   * @param by returns the messages to publish instead of a message, none to drop it; undefined to leave it as it is
   * @returns the number of replaced messages
   */
  replaceFailed(by: (failed: FailedWork) => readonly WorkMessage[] | undefined): Promise<number>;

  /**
   * Closes all connections and handlers. Waiting work stays, unless it is in this process only. May be called again.
   */
  close(): Promise<void>;
}
