import { MemoryWorkQueue } from './memory-work-queue.js';
import { workQueueContract } from '../work-queue-contract.js';

workQueueContract('memory', (t) => {
  const queue = new MemoryWorkQueue();
  t.after(() => queue.close());
  return Promise.resolve(queue);
});
