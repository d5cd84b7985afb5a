import { ServerInterceptingCall, type ServerInterceptor, ServerListenerBuilder, status } from '@grpc/grpc-js';
import { PlatformError } from '../base/errors.js';
import type { Connections } from './connections.js';
import type { ServerLimits } from './limits.js';
import type { FairLoop } from './fair-loop.js';
import { type MessageFormat, noRoom } from './message-format.js';
import { toStatus } from './status.js';

const ALWAYS_ANSWERED = '/grpc.health.v1.Health/Check';

/** A larger request has its own turn of the event loop. One read may contain many smaller ones. */
const MAX_AT_ONCE_BYTES = 1024;

/**
 * Answers a request that is late, too large for its method, damaged, or beyond the server's memory with an error.
 *
 * @param formats by path; requests of other methods are passed on
 */
export function receiveRequests(
  formats: ReadonlyMap<string, MessageFormat>,
  connections: Connections,
  limits: ServerLimits,
  loop: FairLoop,
): ServerInterceptor {
  let heldBytes = 0;
  let calls = 0;

  return ({ path, requestStream }, call) => {
    const format = formats.get(path);
    let receiving: ReturnType<Connections['receive']>;
    let overdue: NodeJS.Timeout | undefined;
    let isCounted = false;
    let isOver = false;
    let bytesOfCall = 0;

    const pass = (format: MessageFormat, message: Buffer, next: (request: unknown) => void): void => {
      if (isOver) return;
      try {
        const room = limits.heldBytes - heldBytes - message.length;
        if (room < 0) throw noRoom();
        const { request, valueBytes } = format.decode(message, room);
        if (!requestStream) {
          heldBytes += message.length + valueBytes - bytesOfCall;
          bytesOfCall = message.length + valueBytes;
        }
        next(request);
      } catch (error) {
        call.sendStatus(toStatus(error));
      }
    };

    const listener = new ServerListenerBuilder()
      .withOnReceiveMetadata((metadata, next) => {
        if (calls >= limits.calls && path !== ALWAYS_ANSWERED) {
          call.sendStatus(toStatus(new PlatformError('exhausted', 'the server has too many calls; try again later')));
          return;
        }
        calls++;
        isCounted = true;
        receiving = connections.receive(call.getPeer());
        overdue = setTimeout(() => {
          const details = `no request came within ${limits.requestMs / 1000} s`;
          call.sendStatus({ code: status.DEADLINE_EXCEEDED, details });
          receiving?.giveUp();
        }, limits.requestMs).unref();
        next(metadata);
      })
      .withOnReceiveMessage((message: unknown, next) => {
        // Only a stream goes on after a message. A compressed request is larger here than its received bytes.
        if (requestStream) {
          clearTimeout(overdue);
          if (Buffer.isBuffer(message)) receiving?.delivered(message.length);
        }
        if (format === undefined || !Buffer.isBuffer(message)) {
          next(message);
          return;
        }
        if (message.length <= MAX_AT_ONCE_BYTES) pass(format, message, next);
        else void loop.take(call.getPeer()).then(() => pass(format, message, next));
      })
      .withOnReceiveHalfClose((next) => {
        clearTimeout(overdue);
        receiving?.end();
        next();
      })
      .withOnCancel(() => {
        if (isCounted) calls--;
        isOver = true;
        clearTimeout(overdue);
        receiving?.end();
        heldBytes -= bytesOfCall;
      })
      .build();
    return new ServerInterceptingCall(call, { start: (next) => next(listener) });
  };
}
