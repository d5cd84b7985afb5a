import { InterceptingCall, type Interceptor, ServerInterceptingCall, type ServerInterceptor } from '@grpc/grpc-js';
import { activeTracing } from './tracing.js';

// Both check at each call whether tracing is on, because it may be turned on after channels and servers are created.

/** For every gRPC client: carries the current span to the server. */
export const traceClientCall: Interceptor = (options, nextCall) => {
  return activeTracing()?.clientInterceptor(options, nextCall) ?? new InterceptingCall(nextCall(options));
};

/** For every gRPC server: runs handlers in a span of the client's trace. */
export const traceServerCall: ServerInterceptor = (method, call) => {
  return activeTracing()?.serverInterceptor(method, call) ?? new ServerInterceptingCall(call);
};
