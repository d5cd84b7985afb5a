import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/**
 * Below the ports that Linux gives to clients (ip_local_port_range, from 32768 on), so that no client takes the port
 * while a server that has it is started again.
 */
const PORTS = [20_000, 32_000] as const;

/** The first port of a block is held by the process that has the others. */
const PORTS_OF_BLOCK = 64;

const BLOCKS = Math.floor((PORTS[1] - PORTS[0]) / PORTS_OF_BLOCK);

async function listenAt(port: number): Promise<Server | undefined> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
    return server;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') return undefined;
    throw error;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = await listenAt(port);
  if (server === undefined) return false;
  server.close();
  await once(server, 'close');
  return true;
}

let block = process.pid;
let next = 0;
let end = 0;

/** Until this process ends, no other test process has ports of the block. */
async function takeBlock(): Promise<void> {
  for (let tried = 0; tried < BLOCKS; tried++) {
    const first = PORTS[0] + (block++ % BLOCKS) * PORTS_OF_BLOCK;
    const server = await listenAt(first);
    if (server === undefined) continue;
    server.unref();
    next = first + 1;
    end = first + PORTS_OF_BLOCK;
    return;
  }
  throw new Error('other test processes have all ports');
}

/**
 * A port of this machine at which nothing listens, and which is given to no other test, also while its server is
 * stopped.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    if (next === end) await takeBlock();
    const port = next++;
    if (await isFree(port)) return port;
  }
}
