import { brokerAddress } from './amqp/address.js';
import type { BrokerOptions } from './amqp/broker.js';
import type { WorkQueue } from './work-queue.js';

/**
 * @throws PlatformError without the URI's password: `usage` for a URI that names no queue, `unavailable` if no broker
 *   answers, `unauthenticated` if the broker refuses the user
 */
export async function openQueue(uri: string, options: BrokerOptions): Promise<WorkQueue> {
  const address = brokerAddress(uri);
  // Few commands use a queue.
  const { Broker } = await import('./amqp/broker.js');
  const { AmqpWorkQueue } = await import('./amqp/work-queue.js');
  const publishing = await Broker.connect(uri, address, options);
  try {
    // Only the publishing connection warns when the broker is lost, and only that connection can be blocked.
    const broker = await Broker.connect(uri, address, { ...options, onWarning: () => undefined });
    return new AmqpWorkQueue(broker, publishing);
  } catch (thrown) {
    await publishing.close();
    throw thrown;
  }
}
