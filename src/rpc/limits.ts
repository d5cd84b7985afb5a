const MIB = 2 ** 20;

/** Largest message either way. A brick or model without weights takes kilobytes, the widest graphs a few megabytes. */
export const MAX_MESSAGE_BYTES = 64 * MIB;

/** Largest request of methods that don't ask for more. */
export const MAX_REQUEST_BYTES = 4 * MIB;

/** Largest request of health checks and reflection, which are names. */
export const MAX_NAME_REQUEST_BYTES = 4096;

/** Time for a client to read a server's last answer and to end its side. */
export const FAREWELL_MS = 1000;

/** Limits of all clients of a server together. */
export interface ServerLimits {
  /** Connections at a time; further ones are closed as they come. */
  readonly connections: number;
  /** Calls at a time on one connection; further ones wait at the client. */
  readonly callsPerConnection: number;
  /** Calls at a time on all connections; further ones are refused, health checks excepted. */
  readonly calls: number;
  /** A connection that has made no call after this long is closed. */
  readonly firstCallMs: number;
  /** Time limit from the start of a call until its request is complete. */
  readonly requestMs: number;
  /** A connection without calls is closed after this long; clients connect again when they need to. */
  readonly idleMs: number;
  /** Limit of requests that are on their way; past it the connection with the most bytes is closed. */
  readonly receivingBytes: number;
  /** Limit of requests that are being answered, with the memory of their values; past it further ones are refused. */
  readonly heldBytes: number;
  /** Time limit from giving an answer to a connection until the client has taken it. */
  readonly answerMs: number;
  /** Limit of answers that are on their way; past it further ones are refused. */
  readonly answeringBytes: number;
  /** The same on one connection, which may have one answer of any size. */
  readonly answeringBytesPerConnection: number;
}

export const SERVER_LIMITS: ServerLimits = {
  connections: 512,
  callsPerConnection: 100,
  calls: 4096,
  firstCallMs: 30_000,
  requestMs: 60_000,
  idleMs: 10 * 60_000,
  receivingBytes: 512 * MIB,
  heldBytes: 512 * MIB,
  answerMs: 60_000,
  answeringBytes: 256 * MIB,
  answeringBytesPerConnection: MAX_MESSAGE_BYTES,
};
