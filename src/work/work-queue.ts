/** Work on its way, in bytes. Queues look at nothing in it. */
export interface WorkMessage {
  /** No two pieces of work have the same. A message that comes twice is one piece. */
  readonly id: string;
  readonly body: Uint8Array;
}

/**
 * How the handling of a message ended. A handler that throws has failed: the message is delivered again, and given up after
 * {@link MOST_DELIVERIES}.
 */
export type Handled =
  | { readonly kind: 'done' }
  /** No agent can do this work: it is given up at once. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** It was not tried: it goes back, for others, and this delivery does not count. */
  | { readonly kind: 'returned' };

export type WorkHandler = (message: WorkMessage) => Promise<Handled>;

/** Work that was given up. */
export interface FailedWork {
  readonly message: WorkMessage;
  /** The class of systems that it was for. */
  readonly system: string;
  /** One sentence, without a full stop. */
  readonly reason: string;
  /** ISO 8601 in UTC; undefined where the queue does not know. */
  readonly failedAt: string | undefined;
}

/** How busy a queue for one class of systems is. */
export interface QueueState {
  /** Messages that wait for an agent. */
  readonly waiting: number;
  /** Agents that take work from it. */
  readonly serving: number;
}

/** Something that goes on until it is closed. */
export interface Ongoing {
  /** Resolves when the last handler that was called has ended. May be called again. */
  close(): Promise<void>;
}

/** Deliveries of a message before it is given up. */
export const MOST_DELIVERIES = 3;

/** Longest body of a message. RabbitMQ 4 accepts 16 MiB by default. */
export const MOST_BODY_BYTES = 15 * 2 ** 20;

/**
 * Hands out work for classes of systems. Accepted work is done by an agent that serves the class, at least once, or is given
 * up with a reason. Every method throws a PlatformError: `unavailable` where the queue's broker is away for too long or
 * takes nothing, `unauthenticated` where it allows too little.
 */
export interface WorkQueue {
  /**
   * Resolves when the message cannot get lost any more.
   *
   * @param system the class; see {@link classOf}
   * @throws PlatformError `usage` for a body that is too large
   */
  publish(system: string, message: WorkMessage): Promise<void>;

  /** Takes work, one message at a time, until it is closed. Resolves when the queue knows of it. */
  serve(system: string, handler: WorkHandler): Promise<Ongoing>;

  state(system: string): Promise<QueueState>;

  /**
   * Calls the listener with all work that is given up from now on. It may hear of the same work more than once, and
   * misses work that is given up while the broker is away.
   */
  watchFailed(listener: (failed: FailedWork) => void): Promise<Ongoing>;

  /** All work that was given up and not tried again since. */
  failed(): AsyncIterable<FailedWork>;

  /**
   * Publishes work that was given up again.
   *
   * @param again what to publish in the place of a message; undefined to leave it as it is
   * @returns how many were replaced
   */
  retry(again: (failed: FailedWork) => readonly WorkMessage[] | undefined): Promise<number>;

  /** Ends everything that it has open. Work that waits stays, unless it is in this process only. May be called again. */
  close(): Promise<void>;
}
