import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf } from '../../base/errors.js';

/** Processes of a group wait only for each other, and check for no other load: for tests, which use no times. */
export const LOCK_GROUP_VARIABLE = 'MLMODELSCOPE_TURN_GROUP';

export function lockGroup(): string | undefined {
  return process.env[LOCK_GROUP_VARIABLE];
}

const ADDRESS_BYTES = 108;

/**
 * In Linux's abstract namespace (unix(7)): no file, no permissions, free as soon as its process ends, and seen in the
 * same network namespace. It has the full length, because versions of Node differ in whether they pad shorter names.
 */
function machineAddress(): string {
  const group = lockGroup();
  const name = group === undefined ? 'mlmodelscope-measuring' : `mlmodelscope-measuring ${group}`;
  return `\0${name}`.slice(0, ADDRESS_BYTES).padEnd(ADDRESS_BYTES, '\0');
}

/** Time between two tries if the holder accepts no connection. */
const PAUSE_MS = 50;

/** A process id: Linux has at most 2^22 of them (proc(5), pid_max). */
const PROCESS = /^\d{1,7}$/;

export interface MachineLock {
  release(): void;
}

/** Waits for others on Linux only. @param holder process id that others see @param onWaiting again with the holder */
export async function takeMachineLock(holder: number, onWaiting: (holder?: number) => void): Promise<MachineLock> {
  if (process.platform !== 'linux') return { release: () => undefined };
  for (;;) {
    const lock = await tryToTake(holder);
    if (lock !== undefined) return lock;
    onWaiting();
    if (!(await holderEnds(onWaiting))) await sleep(PAUSE_MS);
  }
}

/** @returns undefined where another process has the right */
function tryToTake(holder: number): Promise<MachineLock | undefined> {
  return new Promise((resolve) => {
    const waiting = new Set<Socket>();
    const server = createServer((socket) => {
      waiting.add(socket);
      // That process no longer waits.
      socket.on('error', () => waiting.delete(socket));
      socket.write(String(holder));
    });
    server.once('error', (error) => {
      const isTaken = codeOf(error) === 'EADDRINUSE';
      // If the system does not allow such an address, this process does not wait.
      resolve(isTaken ? undefined : { release: () => undefined });
    });
    server.listen({ path: machineAddress() }, () => resolve({ release: () => release(server, waiting) }));
  });
}

/** Frees the address first, so that the waiting processes find it free. */
function release(server: Server, waiting: ReadonlySet<Socket>): void {
  server.close();
  for (const socket of waiting) socket.destroy();
}

/** Waits until the holder releases its right. @returns false where the holder accepts no connection */
function holderEnds(onWaiting: (holder: number) => void): Promise<boolean> {
  return new Promise((resolve) => {
    let isConnected = false;
    const socket = connect({ path: machineAddress() }, () => (isConnected = true));
    socket.setEncoding('latin1').once('data', (said: string) => {
      if (PROCESS.test(said)) onWaiting(Number(said));
    });
    socket.on('error', () => undefined);
    socket.once('close', () => resolve(isConnected));
  });
}
