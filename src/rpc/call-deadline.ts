import { InterceptingCall, type Interceptor, ListenerBuilder, RequesterBuilder, status } from '@grpc/grpc-js';

/** Timers of Node.js take little more (2^31 - 1 ms), and so do servers that use the same library. */
const MAX_MS = 24 * 24 * 3_600_000;

/** A `grpc-timeout` has up to eight digits. Source: gRPC over HTTP/2, "TimeoutValue". */
const MAX_MILLISECONDS = 99_999_999;

export interface Connecting {
  readonly limitMs: number;
  readonly isConnecting: () => boolean;
  readonly giveUp: () => void;
}

/**
 * Ends a call by the monotonic clock, here and on the server. The library's deadlines are times of the wall clock: if
 * the clock is set forward before it sends the time left, none is left. A call that still waits for a connection ends
 * sooner: the library waits for the other side's first bytes forever.
 *
 * @param wantedMs 24 days at most
 */
export function endAfter(wantedMs: number, { limitMs, isConnecting, giveUp }: Connecting): Interceptor {
  const ms = Math.min(wantedMs, MAX_MS);
  return (options, nextCall) => {
    const call = nextCall(options);
    const requester = new RequesterBuilder()
      .withStart((metadata, _listener, next) => {
        metadata.set('grpc-timeout', ms <= MAX_MILLISECONDS ? `${Math.ceil(ms)}m` : `${Math.ceil(ms / 1000)}S`);
        const end = (): void => call.cancelWithStatus(status.DEADLINE_EXCEEDED, 'Deadline exceeded');
        const endUnconnected = (): void => {
          if (!isConnecting()) return;
          call.cancelWithStatus(status.UNAVAILABLE, `no connection within ${limitMs / 1000} s`);
          giveUp();
        };
        const timers = [setTimeout(end, ms), setTimeout(endUnconnected, limitMs)];
        const listener = new ListenerBuilder()
          .withOnReceiveStatus((answer, pass) => {
            timers.forEach(clearTimeout);
            pass(answer);
          })
          .build();
        next(metadata, listener);
      })
      .build();
    return new InterceptingCall(call, requester);
  };
}
