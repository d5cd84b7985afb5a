import { InterceptingCall, type Interceptor, ServerInterceptingCall, type ServerInterceptor } from '@grpc/grpc-js';
import { activeTracing } from './tracing.js';

// Tracing may be turned on after channels and servers are created, so each call checks.

export const traceClientCall: Interceptor = (options, nextCall) => {
  return activeTracing()?.clientInterceptor(options, nextCall) ?? new InterceptingCall(nextCall(options));
};

export const traceServerCall: ServerInterceptor = (method, call) => {
  return activeTracing()?.serverInterceptor(method, call) ?? new ServerInterceptingCall(call);
};
