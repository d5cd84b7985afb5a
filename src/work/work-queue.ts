import { PlatformError } from '../base/errors.js';

/** Queues do not read the body. */
export interface WorkMessage {
  /** Unique for each piece of work. A message that is delivered twice is one piece of work. */
  readonly id: string;
  readonly body: Uint8Array;
}

/** A handler that throws has failed: the message is delivered again, and given up after {@link MAX_DELIVERIES}. */
export type Handled =
  | { readonly kind: 'done' }
  /** No agent can do this work: it is given up at once. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** The work was not tried. This delivery does not count. */
  | { readonly kind: 'returned' };

export type WorkHandler = (message: WorkMessage) => Promise<Handled>;

export interface FailedWork {
  readonly message: WorkMessage;
  /** '' if a message of others names none. */
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

export interface Ongoing {
  /** Resolves when the last handler that was called has ended. May be called again. */
  close(): Promise<void>;
}

export const MAX_DELIVERIES = 3;

/** Longest body of a message. RabbitMQ 4 accepts 16 MiB by default. */
export const MAX_BODY_BYTES = 15 * 2 ** 20;

/** @throws PlatformError `usage` for a body that is too large */
export function checkBody({ body }: WorkMessage): void {
  if (body.length <= MAX_BODY_BYTES) return;
  throw new PlatformError(
    'usage',
    `a message of ${body.length} bytes is too large; at most ${MAX_BODY_BYTES} are allowed`,
  );
}

export function queueClosedError(): PlatformError {
  return new PlatformError('unavailable', 'the work queue has been closed; open it again to use it');
}

/**
 * Distributes work for classes of systems ({@link classOf}). Accepted work is done at least once, or given up with a
 * reason. Methods throw a PlatformError: `unavailable` if the broker is away or accepts nothing for too long,
 * `unauthenticated` if it refuses this user or an operation.
 */
export interface WorkQueue {
  /** Resolves when the message cannot get lost any more. @throws PlatformError `usage` for a body that is too large */
  publish(system: string, message: WorkMessage): Promise<void>;

  /** Takes one message at a time until the result is closed. Resolves when the queue delivers to this handler. */
  serve(system: string, handler: WorkHandler): Promise<Ongoing>;

  state(system: string): Promise<QueueState>;

  /** The listener may get work more than once, and misses work that is given up while the broker is unavailable. */
  watchFailed(listener: (failed: FailedWork) => void): Promise<Ongoing>;

  failed(): AsyncIterable<FailedWork>;

  /**
   * @param by returns the messages to publish instead of a message, none to drop it; undefined to leave it as it is
   * @returns the number of replaced messages
   */
  replaceFailed(by: (failed: FailedWork) => readonly WorkMessage[] | undefined): Promise<number>;

  /** Waiting work stays, unless it is in this process only. May be called again. */
  close(): Promise<void>;
}
