import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * The variable with the name of a group, whose processes wait for each other only. Tests use it, which measure at the same
 * time and read no times from it.
 */
export const TURN_GROUP_VARIABLE = 'MLMODELSCOPE_TURN_GROUP';

/** Length of an abstract address (`sun_path`). */
const ADDRESS_BYTES = 108;

/**
 * An address in Linux's abstract name space (unix(7)): no file, no rights, and free as soon as its process ends, however
 * it ends. Processes see each other by it where they share a network name space. Versions of Node differ in whether they
 * fill up a shorter name.
 */
function machineAddress(): string {
  const group = process.env[TURN_GROUP_VARIABLE];
  const name = group === undefined ? 'mlmodelscope-measuring' : `mlmodelscope-measuring ${group}`;
  return `\0${name}`.slice(0, ADDRESS_BYTES).padEnd(ADDRESS_BYTES, '\0');
}

/** Time between two tries where the holder takes no connection. */
const PAUSE_MS = 50;

/** A process number: Linux has at most 2^22 of them (proc(5), pid_max). */
const PROCESS = /^\d{1,7}$/;

/** The right to measure on this machine. One process has it at a time. */
export interface MachineTurn {
  /** Gives the right to the processes that wait. */
  release(): void;
}

/**
 * Waits until no other process measures on this machine. On systems other than Linux, nothing is waited for.
 *
 * @param holder the process that others are told of
 * @param onWaiting called where this process has to wait; with the process that it waits for, once that is known
 */
export async function takeMachineTurn(holder: number, onWaiting: (holder?: number) => void): Promise<MachineTurn> {
  if (process.platform !== 'linux') return { release: () => undefined };
  for (;;) {
    const turn = await tryToTake(holder);
    if (turn !== undefined) return turn;
    onWaiting();
    if (!(await holderEnds(onWaiting))) await sleep(PAUSE_MS);
  }
}

/** @returns undefined where another process has the right */
function tryToTake(holder: number): Promise<MachineTurn | undefined> {
  return new Promise((resolve) => {
    const waiting = new Set<Socket>();
    const server = createServer((socket) => {
      waiting.add(socket);
      // A process that waits no longer.
      socket.on('error', () => waiting.delete(socket));
      socket.write(String(holder));
    });
    server.once('error', (error) => {
      const isTaken = 'code' in error && error.code === 'EADDRINUSE';
      // Where the system allows no such address, nothing is waited for.
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

/** Waits for the end of the holder's right. @returns false where it takes no connection */
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
