import type { ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import type { ServerLimits } from './limits.js';

/** Interval of checks. A local network transfers a hundred megabytes in a second. */
const LOOK_INTERVAL_MS = 25;

const FAREWELL_MS = 1000;

interface Connection {
  readonly socket: Socket;
  readonly firstCall: NodeJS.Timeout;
  /** Calls that have not ended. */
  calls: number;
  /** Runs while there are no calls. */
  idle: NodeJS.Timeout | undefined;
  /** Calls whose requests have not arrived yet. */
  receiving: number;
  /** Bytes of the socket that need no memory any more. */
  settledBytes: number;
  /** Bytes of answers that the client has not taken yet. */
  answeringBytes: number;
}

/** A request that is on its way. */
export interface Receiving {
  /** A message of it was delivered. */
  delivered(bytes: number): void;
  /** The request is complete or will never come. May be called again. */
  end(): void;
  /**
   * Closes the connection after the client had time to read the reason. A continuing stream cannot be ended in another
   * way.
   */
  giveUp(): void;
}

/** Memory for the answers of one connection. */
export interface Answering {
  /** @returns false where there is no room */
  take(bytes: number): boolean;
  giveBack(bytes: number): void;
}

/** Stands for the requests of a closed connection. */
const GONE: Receiving = { delivered: () => {}, end: () => {}, giveUp: () => {} };

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress}:${remotePort}`;
}

type Limits = Pick<
  ServerLimits,
  'firstCallMs' | 'idleMs' | 'receivingBytes' | 'answeringBytes' | 'answeringBytesPerConnection'
>;

/**
 * The connections of a server, each with the received bytes that no handler has got yet: messages are collected in
 * memory until they are complete, and a client can delay that. Past the limit, the connections with the most bytes are
 * closed. Likewise answers are in memory until they are taken; past their limits there is no room for more.
 */
export class Connections {
  readonly #byPeer = new Map<string, Connection>();
  #timer: NodeJS.Timeout | undefined;
  #answeringBytes = 0;

  constructor(private readonly limits: Limits) {}

  get size(): number {
    return this.#byPeer.size;
  }

  add(socket: Socket): void {
    const peer = peerOf(socket);
    const firstCall = setTimeout(() => socket.destroy(), this.limits.firstCallMs).unref();
    const nothingYet = { calls: 0, idle: undefined, receiving: 0, settledBytes: 0, answeringBytes: 0 };
    const connection: Connection = { socket, firstCall, ...nothingYet };
    this.#byPeer.set(peer, connection);
    // The owner of the socket handles its errors; between two owners there may be none, and the process would end.
    socket.on('error', () => socket.destroy());
    socket.once('close', () => {
      clearTimeout(firstCall);
      clearTimeout(connection.idle);
      this.#byPeer.delete(peer);
    });
    this.#timer ??= setInterval(() => this.#look(), LOOK_INTERVAL_MS).unref();
  }

  /**
   * A call of the client at this address, `ip:port`, has this stream. A connection without any for too long is closed: the
   * library's own limit goes by the wall clock, so that one set back by a day would keep them for a day.
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
      // This tells the client first, so that it makes calls of this very moment again.
      connection.idle = setTimeout(() => session?.close(), this.limits.idleMs).unref();
    });
  }

  /** Bytes that came from the client at this address, `ip:port`. */
  receivedBytes(peer: string): number {
    return this.#byPeer.get(peer)?.socket.bytesRead ?? 0;
  }

  /** A call of the client at this address, `ip:port`, begins. */
  receive(peer: string): Receiving {
    const connection = this.#byPeer.get(peer);
    if (connection === undefined) return GONE;
    clearTimeout(connection.firstCall);
    if (connection.receiving === 0) connection.settledBytes = connection.socket.bytesRead;
    connection.receiving++;
    let ended = false;
    return {
      delivered: (bytes) => {
        connection.settledBytes += bytes;
      },
      end: () => {
        if (!ended) connection.receiving--;
        ended = true;
      },
      giveUp: () => {
        setTimeout(() => connection.socket.destroy(), FAREWELL_MS).unref();
      },
    };
  }

  /** A call of the client at this address, `ip:port`, is to be answered. */
  answering(peer: string): Answering {
    const connection = this.#byPeer.get(peer) ?? { answeringBytes: 0 };
    const { answeringBytes, answeringBytesPerConnection } = this.limits;
    return {
      take: (bytes) => {
        const isFull = connection.answeringBytes > 0 && connection.answeringBytes + bytes > answeringBytesPerConnection;
        if (isFull || this.#answeringBytes + bytes > answeringBytes) return false;
        connection.answeringBytes += bytes;
        this.#answeringBytes += bytes;
        return true;
      },
      giveBack: (bytes) => {
        connection.answeringBytes -= bytes;
        this.#answeringBytes -= bytes;
      },
    };
  }

  /** Closes all of them. */
  destroy(): void {
    clearInterval(this.#timer);
    for (const { socket } of this.#byPeer.values()) socket.destroy();
  }

  #look(): void {
    const held = [...this.#byPeer.values()].flatMap(({ socket, receiving, settledBytes }) => {
      return receiving === 0 ? [] : [{ socket, bytes: Math.max(0, socket.bytesRead - settledBytes) }];
    });
    let total = held.reduce((sum, { bytes }) => sum + bytes, 0);
    if (total <= this.limits.receivingBytes) return;
    for (const { socket, bytes } of held.sort((a, b) => b.bytes - a.bytes)) {
      if (total <= this.limits.receivingBytes) return;
      socket.destroy();
      total -= bytes;
    }
  }
}
