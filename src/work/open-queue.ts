import { brokerAddress } from './amqp/address.js';
import type { WorkQueue } from './work-queue.js';

export interface QueueOptions {
  readonly onWarning: (message: string) => void;
  /** By default the authorities that Node.js trusts. */
  readonly caPem?: Buffer | undefined;
}

/**
 * @throws PlatformError without the URI's password: `usage` for a URI that names no queue, `unavailable` if no broker
 *   answers, `unauthenticated` if the broker refuses the user
 */
export async function openQueue(uri: string, options: QueueOptions): Promise<WorkQueue> {
  const address = brokerAddress(uri);
  // Few commands use a queue.
  const { openAmqpQueue } = await import('./amqp/open.js');
  return openAmqpQueue(uri, address, options);
}
