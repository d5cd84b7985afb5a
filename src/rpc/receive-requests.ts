import { ServerInterceptingCall, type ServerInterceptor, ServerListenerBuilder, status } from '@grpc/grpc-js';
import { messageOf, PlatformError } from '../base/errors.js';
import type { Connections, Receiving } from './connections.js';
import { MAX_REQUEST_BYTES, type ServerLimits } from './limits.js';
import { statusOf } from './status.js';

/** How the bytes of a method's requests become messages. */
export interface RequestFormat {
  /** @throws anything for bytes that are no such message */
  readonly decode: (bytes: Buffer) => unknown;
  readonly maxBytes?: number | undefined;
}

/** @throws PlatformError `usage` for a request that is too large or damaged */
function decoded({ decode, maxBytes = MAX_REQUEST_BYTES }: RequestFormat, bytes: Buffer): unknown {
  if (bytes.length > maxBytes) {
    throw new PlatformError('usage', `the request has ${bytes.length} bytes; this method takes at most ${maxBytes}`);
  }
  try {
    return decode(bytes);
  } catch (cause) {
    if (cause instanceof PlatformError) throw cause;
    throw new PlatformError('usage', `the request is damaged: ${messageOf(cause)}`, { cause });
  }
}

/**
 * Decodes requests, which the library hands over as bytes, and keeps account of them: a request that doesn't come in
 * time, is too large for its method, is damaged, or finds the server's memory taken, is answered with what is wrong.
 *
 * @param formats by path; requests of other methods are none of its business
 */
export function receiveRequests(
  formats: ReadonlyMap<string, RequestFormat>,
  connections: Connections,
  limits: ServerLimits,
): ServerInterceptor {
  let heldBytes = 0;

  return ({ path, requestStream }, call) => {
    const format = formats.get(path);
    let receiving: Receiving | undefined;
    let overdue: NodeJS.Timeout | undefined;
    let bytesOfCall = 0;

    /** The request is there, or its first message of several. */
    const arrived = (): void => {
      clearTimeout(overdue);
      if (!requestStream) receiving?.end();
    };
    const listener = new ServerListenerBuilder()
      .withOnReceiveMetadata((metadata, next) => {
        receiving = connections.receive(call.getPeer());
        overdue = setTimeout(() => {
          const details = `no request came within ${limits.requestMs / 1000} s`;
          call.sendStatus({ code: status.DEADLINE_EXCEEDED, details });
          receiving?.giveUp();
        }, limits.requestMs).unref();
        next(metadata);
      })
      .withOnReceiveMessage((message: unknown, next) => {
        arrived();
        if (format === undefined || !Buffer.isBuffer(message)) {
          next(message);
          return;
        }
        // Of a stream that goes on. What is counted of others ends with them; a compressed one is larger than what came.
        if (requestStream) receiving?.delivered(message.length);
        try {
          if (heldBytes + message.length > limits.heldBytes) {
            throw new PlatformError('exhausted', 'the server has no room for more requests; try again later');
          }
          const request = decoded(format, message);
          // Those of a stream are let go of one by one.
          if (!requestStream) bytesOfCall = message.length;
          heldBytes += bytesOfCall;
          next(request);
        } catch (error) {
          call.sendStatus(statusOf(error));
        }
      })
      .withOnReceiveHalfClose((next) => {
        arrived();
        next();
      })
      // Comes at the end of every call, cancelled or not.
      .withOnCancel(() => {
        clearTimeout(overdue);
        receiving?.end();
        heldBytes -= bytesOfCall;
        bytesOfCall = 0;
      })
      .build();
    return new ServerInterceptingCall(call, { start: (next) => next(listener) });
  };
}
