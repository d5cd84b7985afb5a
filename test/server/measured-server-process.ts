// Started by tests: a whole server in a process of its own, with an embedded store, that reports the longest time that
// its event loop was busy with one thing.
import { startServer } from '../../src/server/server.js';
import { openEmbeddedStore } from '../../src/store/embedded/open.js';
import { processorMs } from './processor-ms.js';

async function main(folder: string): Promise<void> {
  const store = await openEmbeddedStore(folder, {});
  const server = await startServer({ listen: { host: '127.0.0.1', port: 0 }, store });
  let last = processorMs(process.pid);
  let longestMs = 0;
  setInterval(() => {
    const now = processorMs(process.pid);
    longestMs = Math.max(longestMs, now - last);
    last = now;
  }, 1);
  process.on('message', () => {
    process.send?.({ longestMs });
    longestMs = 0;
  });
  process.send?.({ address: server.address });
}

const [, , folder] = process.argv;
if (folder !== undefined && process.send !== undefined) await main(folder);
