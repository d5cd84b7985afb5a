// Started by tests: a whole server in a process of its own, with an embedded store, that reports the longest time that
// its event loop was busy with one thing.
import { readFileSync } from 'node:fs';
import { startServer } from '../../src/server/server.js';
import { openEmbeddedStore } from '../../src/store/embedded/open.js';

/** Processor time of this process's main thread in milliseconds: others on the machine do not count. Source: schedstat, proc(5). */
function busyMs(): number {
  const [nanoseconds = ''] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'latin1').split(' ');
  return Number(nanoseconds) / 1e6;
}

async function main(folder: string): Promise<void> {
  const store = await openEmbeddedStore(folder, {});
  const server = await startServer({ listen: { host: '127.0.0.1', port: 0 }, store });
  let [last, longestMs] = [busyMs(), 0];
  setInterval(() => {
    const now = busyMs();
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
