// Started by process-lifetime.test.ts. Imitates a worker process in the middle of a long run: the main thread is busy,
// and only the lifeline can react.
import { Worker } from 'node:worker_threads';

const MAX_MS = 30_000;

const [temporaryFolder] = process.argv.slice(2);
const lifeline = new Worker(new URL('../../../src/agent/worker/lifeline.js', import.meta.url), {
  workerData: { temporaryFolder },
});
lifeline.once('online', () => {
  process.stdout.write('blocked\n', () => {
    const endMs = performance.now() + MAX_MS;
    while (performance.now() < endMs);
  });
});
