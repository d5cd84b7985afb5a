import { InterceptingCall, type Interceptor, ListenerBuilder, RequesterBuilder, status } from '@grpc/grpc-js';

/** Timers of Node.js take little more (2^31 - 1 ms), and so do servers that use the same library. */
const MAX_MS = 24 * 24 * 3_600_000;

/** A `grpc-timeout` has up to eight digits. Source: gRPC over HTTP/2, "TimeoutValue". */
const MAX_MILLISECONDS = 99_999_999;

function timeoutHeader(ms: number): string {
  return ms <= MAX_MILLISECONDS ? `${Math.ceil(ms)}m` : `${Math.ceil(ms / 1000)}S`;
}

/**
 * Ends a call by the monotonic clock, here and on the server. The library's deadlines are times of the wall clock: if
 * the clock is set forward before it sends the time left, none is left.
 *
 * @param wantedMs 24 days at most
 */
export function endAfter(wantedMs: number): Interceptor {
  const ms = Math.min(wantedMs, MAX_MS);
  return (options, nextCall) => {
    const call = nextCall(options);
    const requester = new RequesterBuilder()
      .withStart((metadata, _listener, next) => {
        metadata.set('grpc-timeout', timeoutHeader(ms));
        const end = (): void => call.cancelWithStatus(status.DEADLINE_EXCEEDED, 'Deadline exceeded');
        const timer = setTimeout(end, ms);
        const listener = new ListenerBuilder()
          .withOnReceiveStatus((answer, pass) => {
            clearTimeout(timer);
            pass(answer);
          })
          .build();
        next(metadata, listener);
      })
      .build();
    return new InterceptingCall(call, requester);
  };
}
