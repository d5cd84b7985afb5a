// An agent in a process of its own that takes work from a broker, for tests that kill it: node agent-process.js QUEUE STORE HOST [MS].
// It waits instead of measuring. Its clock is MS milliseconds off.
import { setTimeout } from 'node:timers/promises';
import { createFakeAgent } from '../support/fake-agent.js';
import { openStore } from '../../src/store/open-store.js';
import { openQueue } from '../../src/work/open-queue.js';
import { serveWork } from '../../src/work/serve-work.js';

/** Time of a brick here. */
const BRICK_MS = 20;

const [queueUri = '', storeUri = '', host = '', clockOffMs = '0'] = process.argv.slice(2);
const warn = (message: string): void => console.error(message);
const store = await openStore(storeUri, { onWarning: warn });
const queue = await openQueue(queueUri, { onWarning: warn });
const agent = createFakeAgent({ latencyOf: () => 1.5, host });
const stop = new AbortController();
process.on('SIGTERM', () => stop.abort());
console.log('serving');
await serveWork(
  queue,
  {
    ...agent,
    async *measure(requests, options) {
      for (const [index, request] of requests.entries()) {
        await setTimeout(BRICK_MS);
        for await (const { measurement } of agent.measure([request], options)) {
          const measuredAt = new Date(new Date().getTime() + Number(clockOffMs)).toISOString();
          yield { index, measurement: { ...measurement, measuredAt } };
        }
      }
    },
  },
  store,
  { signal: stop.signal, onWarning: warn },
);
await queue.close();
await store.close();
