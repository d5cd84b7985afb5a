// Started by process-lifetime.test.ts: what a worker process is in the middle of a long run. Its main thread is
// busy, and nothing but its lifeline notices anything.
import { Worker } from 'node:worker_threads';

const LONGEST_MS = 30_000;

const [temporaryFolder] = process.argv.slice(2);
const lifeline = new Worker(new URL('../../../src/agent/worker/lifeline.js', import.meta.url), {
  workerData: { temporaryFolder },
});
lifeline.once('online', () => {
  process.stdout.write('blocked\n', () => {
    const endMs = performance.now() + LONGEST_MS;
    while (performance.now() < endMs);
  });
});
