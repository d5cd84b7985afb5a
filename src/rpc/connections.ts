import type { ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { FairSemaphore } from '../base/fair-semaphore.js';
import { FAREWELL_MS, type ServerLimits } from './limits.js';

/** A local network transfers a hundred megabytes in a second. */
const LOOK_INTERVAL_MS = 25;

interface Connection {
  readonly socket: Socket;
  readonly firstCall: NodeJS.Timeout;
  calls: number;
  idle: NodeJS.Timeout | undefined;
  receiving: number;
  settledBytes: number;
  answeringBytes: number;
  readonly large: FairSemaphore;
}

type Limits = Pick<
  ServerLimits,
  'firstCallMs' | 'idleMs' | 'receivingBytes' | 'answeringBytes' | 'answeringBytesPerConnection'
>;

/**
 * A message is in memory until it is complete, and a client can delay that: past the limit, the connections with the
 * most bytes are closed. An answer is in memory until the client takes it: past the limits, further ones are refused.
 */
export class Connections {
  readonly #byPeer = new Map<string, Connection>();
  readonly #timer = setInterval(() => this.#look(), LOOK_INTERVAL_MS).unref();
  #answeringBytes = 0;

  constructor(private readonly limits: Limits) {}

  get size(): number {
    return this.#byPeer.size;
  }

  add(socket: Socket): void {
    const peer = `${socket.remoteAddress}:${socket.remotePort}`;
    const firstCall = setTimeout(() => socket.destroy(), this.limits.firstCallMs).unref();
    const nothingYet = { calls: 0, idle: undefined, receiving: 0, settledBytes: 0, answeringBytes: 0 };
    const connection: Connection = { socket, firstCall, ...nothingYet, large: new FairSemaphore(1) };
    this.#byPeer.set(peer, connection);
    // The owner of the socket handles its errors. Between two owners, an unhandled error would end the process.
    socket.on('error', () => socket.destroy());
    socket.once('close', () => {
      clearTimeout(firstCall);
      clearTimeout(connection.idle);
      this.#byPeer.delete(peer);
    });
  }

  /**
   * Closes a connection after `idleMs` without calls. The library's own limit uses the wall clock: set back by a day,
   * it would keep idle connections for a day.
   */
  opened(peer: string, stream: ServerHttp2Stream): void {
    const connection = this.#byPeer.get(peer);
    if (connection === undefined) return;
    const { session } = stream;
    clearTimeout(connection.idle);
    connection.calls++;
    stream.once('close', () => {
      connection.calls--;
      if (connection.calls > 0 || connection.socket.destroyed) return;
      // A graceful close tells the client first, so that it repeats a call that it makes at this moment.
      connection.idle = setTimeout(() => session?.close(), this.limits.idleMs).unref();
    });
  }

  receivedBytes(peer: string): number {
    return this.#byPeer.get(peer)?.socket.bytesRead ?? 0;
  }

  /** @returns undefined where the connection is gone */
  receive(peer: string) {
    const connection = this.#byPeer.get(peer);
    if (connection === undefined) return undefined;
    clearTimeout(connection.firstCall);
    if (connection.receiving === 0) connection.settledBytes = connection.socket.bytesRead;
    connection.receiving++;
    let ended = false;
    return {
      delivered: (bytes: number): void => {
        connection.settledBytes += bytes;
      },
      end: (): void => {
        if (!ended) connection.receiving--;
        ended = true;
      },
      /** Closes it after the client has had time to read the reason: nothing else ends a stream that goes on. */
      giveUp: (): void => {
        setTimeout(() => connection.socket.destroy(), FAREWELL_MS).unref();
      },
    };
  }

  answering(peer: string) {
    const connection = this.#byPeer.get(peer) ?? { answeringBytes: 0, large: new FairSemaphore(1) };
    const { answeringBytes, answeringBytesPerConnection } = this.limits;
    return {
      take: (bytes: number): boolean => {
        const isFull = connection.answeringBytes > 0 && connection.answeringBytes + bytes > answeringBytesPerConnection;
        if (isFull || this.#answeringBytes + bytes > answeringBytes) return false;
        connection.answeringBytes += bytes;
        this.#answeringBytes += bytes;
        return true;
      },
      giveBack: (bytes: number): void => {
        connection.answeringBytes -= bytes;
        this.#answeringBytes -= bytes;
      },
      /** One large answer at a time is sent on a connection; further ones wait. */
      large: connection.large,
    };
  }

  destroy(): void {
    clearInterval(this.#timer);
    for (const { socket } of this.#byPeer.values()) socket.destroy();
  }

  #look(): void {
    const held = [...this.#byPeer.values()].flatMap(({ socket, receiving, settledBytes }) => {
      return receiving === 0 ? [] : [{ socket, bytes: Math.max(0, socket.bytesRead - settledBytes) }];
    });
    let total = held.reduce((sum, { bytes }) => sum + bytes, 0);
    for (const { socket, bytes } of held.sort((a, b) => b.bytes - a.bytes)) {
      if (total <= this.limits.receivingBytes) return;
      socket.destroy();
      total -= bytes;
    }
  }
}
