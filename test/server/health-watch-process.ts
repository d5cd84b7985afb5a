// Started by tests: requests the health of a server repeatedly, in a process that does nothing else, and reports how
// long each request waited.
import { service } from 'grpc-health-check';
import { setTimeout } from 'node:timers/promises';
import { createRpcClient, type Method } from '../../src/rpc/client.js';
import { processorMs } from './processor-ms.js';

/** The observed waits for health checks. */
export interface Waiting {
  /**
   * How long the server worked for others while each health check waited, in milliseconds of its main thread's processor
   * time: other programs of this machine do not count.
   */
  readonly waitsMs: readonly number[];
}

const PAUSE_MS = 20;

const checkHealth = service['Check'] as Method<object, { readonly status: string }> | undefined;

async function watch(address: string, pid: number): Promise<never> {
  const client = createRpcClient(address, 'server');
  const waitsMs: number[] = [];
  let isAsked = false;
  process.on('message', () => (isAsked = true));
  for (let isFirst = true; ; isFirst = false) {
    const busyMs = processorMs(pid);
    if (checkHealth === undefined) throw new Error('the standard service has no Check');
    const { status } = await client.unary(checkHealth, { service: '' }, { deadlineMs: 300_000 });
    if (status !== 'SERVING') throw new Error(`the server is ${status}`);
    // The first one connects as well.
    if (isFirst) process.send?.({ isConnected: true });
    else waitsMs.push(processorMs(pid) - busyMs);
    // At least one health check ends before the report, even if the server was busy for less than a pause.
    if (isAsked && waitsMs.length > 0) {
      process.send?.({ waitsMs } satisfies Waiting);
      isAsked = false;
    }
    await setTimeout(PAUSE_MS);
  }
}

const [, , address, pid] = process.argv;
if (address !== undefined && pid !== undefined && process.send !== undefined) await watch(address, Number(pid));
