import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the ports that Linux gives to clients (ip_local_port_range, from 32768 on), so that no client takes the port
 * while a server that has it is started again.
 */
const PORTS = [20_000, 32_000] as const;

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') return false;
    throw error;
  }
  server.close();
  await once(server, 'close');
  return true;
}

/**
 * A port that is free now may be given to two tests, if its server starts seconds later. So a process counts up, from a
 * place of its own.
 */
const PORTS_OF_PROCESS = 32;

let count = process.pid * PORTS_OF_PROCESS;

/** A port of this machine at which nothing listens, and which no other test has been given lately. */
export async function freePort(): Promise<number> {
  const [first, end] = PORTS;
  for (;;) {
    const port = first + (count++ % (end - first));
    if (await isFree(port)) return port;
  }
}
