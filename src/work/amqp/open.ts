import type { WorkQueue } from '../work-queue.js';
import { Broker, type BrokerOptions } from './broker.js';
import { AmqpWorkQueue } from './work-queue.js';

/**
 * Connects to a RabbitMQ broker.
 *
 * @param place the address without a password
 * @throws PlatformError that says why it cannot be used
 */
export async function openAmqpQueue(uri: string, place: string, options: BrokerOptions): Promise<WorkQueue> {
  const publishing = await Broker.connect(uri, place, options);
  try {
    // One of both tells of a broker that is lost; only the one that publishes is ever stopped.
    const broker = await Broker.connect(uri, place, { ...options, onWarning: () => undefined });
    return new AmqpWorkQueue(broker, publishing);
  } catch (thrown) {
    await publishing.close();
    throw thrown;
  }
}
