import { placeOf } from './amqp/place.js';
import type { WorkQueue } from './work-queue.js';

export interface QueueOptions {
  /** Called with warnings, one sentence each: the broker is lost, or answers again. */
  readonly onWarning: (message: string) => void;
  /** The authorities that the broker's certificate comes from; without it those that Node.js trusts. */
  readonly caPem?: Buffer | undefined;
}

/**
 * Opens the queue that `uri` names, amqp:// or amqps://.
 *
 * @throws PlatformError without the URI's password: `usage` for a URI that names no queue, `unavailable` where no broker answers,
 *   `unauthenticated` where it refuses the user
 */
export async function openQueue(uri: string, options: QueueOptions): Promise<WorkQueue> {
  const place = placeOf(uri);
  // Few commands use a queue, and each pays for what it loads.
  const { openAmqpQueue } = await import('./amqp/open.js');
  return openAmqpQueue(uri, place, options);
}
