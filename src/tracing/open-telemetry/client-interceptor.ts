import { InterceptingCall, type Interceptor, ListenerBuilder, RequesterBuilder, status } from '@grpc/grpc-js';
import { context, propagation, SpanKind, trace, type Tracer } from '@opentelemetry/api';
import { unixNanoNow } from '../unix-time.js';
import { toHrTime } from './hr-time.js';
import { callAttributes, parseMethod, setEnd } from './rpc-attributes.js';
import { levelIn } from './level-in-context.js';

/** The peer is `host:port`, with or without a resolver's scheme before it. */
function serverAttributes(peer: string): Record<string, string | number> {
  const match = /^(?:[a-z][\w+.-]*:\/*)?(?<host>\[[^\]]+\]|[^:/]+):(?<port>\d+)$/.exec(peer);
  if (match?.groups === undefined) return {};
  const { host = '', port = '' } = match.groups;
  return { 'server.address': host.replace(/^\[|\]$/g, ''), 'server.port': Number(port) };
}

export function clientInterceptor(tracer: Tracer): Interceptor {
  return (options, nextCall) => {
    const around = context.active();
    const call = nextCall(options);
    // Renewals, health checks and the exporter's own calls belong to no trace.
    if (trace.getSpanContext(around) === undefined || levelIn(around) === 'NO_TRACE') return new InterceptingCall(call);
    const { path } = options.method_definition;
    const startTime = toHrTime(unixNanoNow());
    const attributes = { ...callAttributes(path), ...serverAttributes(call.getPeer()) };
    const span = tracer.startSpan(parseMethod(path), { kind: SpanKind.CLIENT, startTime, attributes }, around);
    let ended = false;
    const end = (code: status, details: string): void => {
      if (ended) return;
      ended = true;
      setEnd(span, 'client', code, details);
      span.end(toHrTime(unixNanoNow()));
    };
    const requester = new RequesterBuilder()
      .withStart((metadata, _listener, next) => {
        propagation.inject(trace.setSpan(around, span), metadata, { set: (to, key, value) => to.set(key, value) });
        const listener = new ListenerBuilder()
          .withOnReceiveStatus((answer, pass) => {
            end(answer.code, answer.details);
            pass(answer);
          })
          .build();
        next(metadata, listener);
      })
      .withCancel((next) => {
        end(status.CANCELLED, 'cancelled');
        next();
      })
      .build();
    return new InterceptingCall(call, requester);
  };
}
