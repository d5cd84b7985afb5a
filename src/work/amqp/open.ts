import type { WorkQueue } from '../work-queue.js';
import { Broker, type BrokerOptions } from './broker.js';
import { AmqpWorkQueue } from './work-queue.js';

/** @param address without a password @throws PlatformError with the reason why the broker cannot be used */
export async function openAmqpQueue(uri: string, address: string, options: BrokerOptions): Promise<WorkQueue> {
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
