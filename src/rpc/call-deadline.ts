import { InterceptingCall, type Interceptor, ListenerBuilder, RequesterBuilder, status } from '@grpc/grpc-js';

/** 24 days: timers of Node.js take little more, and neither do servers that are made of the same library. */
const LONGEST_MS = 24 * 24 * 3_600_000;

/** A `grpc-timeout` in milliseconds has up to eight digits. Source: gRPC over HTTP/2, "TimeoutValue". */
const MOST_MILLISECONDS = 99_999_999;

function timeoutHeader(ms: number): string {
  return ms <= MOST_MILLISECONDS ? `${Math.ceil(ms)}m` : `${Math.ceil(ms / 1000)}S`;
}

/**
 * Ends a call after a time by the monotonic clock, here and on the server.
 *
 * The library's own deadlines are moments of the wall clock, and it tells a server how far away they are when the
 * connection is there, or when it tries again: after a clock was set forward, that is no time at all.
 *
 * @param wantedMs 24 days at most
 */
export function endAfter(wantedMs: number): Interceptor {
  const ms = Math.min(wantedMs, LONGEST_MS);
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
