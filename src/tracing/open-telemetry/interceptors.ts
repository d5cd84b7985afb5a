import {
  InterceptingCall,
  type Interceptor,
  ListenerBuilder,
  RequesterBuilder,
  ServerInterceptingCall,
  type ServerInterceptor,
  ServerListenerBuilder,
  status,
} from '@grpc/grpc-js';
import {
  type Context,
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';
import { methodKind } from '../../base/method-kind.js';
import { unixNanoNow } from '../unix-time.js';
import { levelIn } from './level-in-context.js';
import { toHrTime } from './span-conversion.js';

// Source: OpenTelemetry's semantic conventions for gRPC spans, 1.38 and later.

/** A server's own failures. */
const SERVER_ERRORS: ReadonlySet<status> = new Set([
  status.UNKNOWN,
  status.DEADLINE_EXCEEDED,
  status.UNIMPLEMENTED,
  status.INTERNAL,
  status.UNAVAILABLE,
  status.DATA_LOSS,
]);

function parseMethod(path: string): string {
  return path.replace(/^\//, '');
}

function callAttributes(path: string): Record<string, string> {
  return { 'rpc.system.name': 'grpc', 'rpc.method': parseMethod(path), trace_level: 'APPLICATION_TRACE' };
}

function setEnd(span: Span, kind: 'client' | 'server', code: status, details: string | undefined): void {
  const name = status[code] ?? `${code}`;
  span.setAttribute('rpc.response.status_code', name);
  const isError = kind === 'client' ? code !== status.OK : SERVER_ERRORS.has(code);
  if (!isError) return;
  span.setAttribute('error.type', name);
  span.setStatus({ code: SpanStatusCode.ERROR, ...(details === undefined ? {} : { message: details }) });
}

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

/** Calls that processes of the platform repeat, or that last as long as a process. */
const HOUSEKEEPING: ReadonlySet<string> = new Set([
  '/mlmodelscope.registry.v1.AgentRegistryService/RegisterAgent',
  '/mlmodelscope.registry.v1.AgentRegistryService/RenewAgent',
  '/mlmodelscope.registry.v1.AgentRegistryService/UnregisterAgent',
  '/mlmodelscope.evaluation.v1.PluginService/Attach',
  '/mlmodelscope.trace.v1.TraceService/TakeSpans',
]);

function startsTrace(path: string): boolean {
  return methodKind(path) !== 'read' && !HOUSEKEEPING.has(path);
}

/** Continues the trace in a call's metadata, or starts one, and runs the handler in a span of it. */
export function serverInterceptor(tracer: Tracer): ServerInterceptor {
  return ({ path }, call) => {
    let span: Span | undefined;
    let inside: Context = ROOT_CONTEXT;
    const end = (code: status, details: string | undefined): void => {
      if (span === undefined) return;
      setEnd(span, 'server', code, details);
      span.end(toHrTime(unixNanoNow()));
      span = undefined;
    };
    const listener = new ServerListenerBuilder()
      .withOnReceiveMetadata((metadata, next) => {
        const outside = propagation.extract(ROOT_CONTEXT, metadata, {
          get: (from, key) => from.get(key).map(String),
          keys: (from) => Object.keys(from.getMap()),
        });
        inside = outside;
        const isPart = trace.getSpanContext(outside) !== undefined;
        if (levelIn(outside) !== 'NO_TRACE' && (isPart || startsTrace(path))) {
          const startTime = toHrTime(unixNanoNow());
          const attributes = callAttributes(path);
          span = tracer.startSpan(parseMethod(path), { kind: SpanKind.SERVER, startTime, attributes }, outside);
          inside = trace.setSpan(outside, span);
        }
        context.with(inside, () => next(metadata));
      })
      .withOnReceiveMessage((message, next) => context.with(inside, () => next(message)))
      .withOnReceiveHalfClose((next) => context.with(inside, () => next()))
      .withOnCancel(() => end(status.CANCELLED, 'the client cancelled the call'))
      .build();
    return new ServerInterceptingCall(call, {
      start: (next) => next(listener),
      sendStatus: (answer, next) => {
        end(answer.code ?? status.UNKNOWN, answer.details ?? undefined);
        next(answer);
      },
    });
  };
}
