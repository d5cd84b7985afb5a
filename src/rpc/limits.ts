const MIB = 2 ** 20;

/** Either way. A brick or model without weights takes kilobytes, the widest graphs a few megabytes. */
export const MAX_MESSAGE_BYTES = 64 * MIB;

export const MAX_REQUEST_BYTES = 4 * MIB;

export const MAX_NAME_REQUEST_BYTES = 4096;

/** For a client to read a server's last answer and to end its side. */
export const FAREWELL_MS = 1000;

export interface ServerLimits {
  /** Further ones are closed as they come. */
  readonly connections: number;
  /** Further ones wait at the client. */
  readonly callsPerConnection: number;
  /** Further ones are refused, health checks excepted. */
  readonly calls: number;
  readonly firstCallMs: number;
  /** From the start of a call until its request is complete. */
  readonly requestMs: number;
  /** Without calls; clients connect again when they need to. */
  readonly idleMs: number;
  /** Requests on their way; past it the connection with the most bytes is closed. */
  readonly receivingBytes: number;
  /** Requests that are being answered, with the memory of their values; past it further ones are refused. */
  readonly heldBytes: number;
  readonly answerMs: number;
  /** Answers on their way; past it further ones are refused. */
  readonly answeringBytes: number;
  /** A connection may have one answer of any size. */
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
