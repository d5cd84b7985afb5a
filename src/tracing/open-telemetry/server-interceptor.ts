import { ServerInterceptingCall, type ServerInterceptor, ServerListenerBuilder, status } from '@grpc/grpc-js';
import {
  type Context,
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  trace,
  type Tracer,
} from '@opentelemetry/api';
import { methodKind } from '../../base/method-kind.js';
import { unixNanoNow } from '../unix-time.js';
import { toHrTime } from './hr-time.js';
import { levelIn } from './level-in-context.js';
import { callAttributes, parseMethod, setEnd } from './rpc-attributes.js';

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
