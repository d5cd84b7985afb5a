import { status } from '@grpc/grpc-js';
import type { Span } from '@opentelemetry/api';
import { SpanStatusCode } from '@opentelemetry/api';

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

export function parseMethod(path: string): string {
  return path.replace(/^\//, '');
}

export function callAttributes(path: string): Record<string, string> {
  return { 'rpc.system.name': 'grpc', 'rpc.method': parseMethod(path), trace_level: 'APPLICATION_TRACE' };
}

export function setEnd(span: Span, kind: 'client' | 'server', code: status, details: string | undefined): void {
  const name = status[code] ?? `${code}`;
  span.setAttribute('rpc.response.status_code', name);
  const isError = kind === 'client' ? code !== status.OK : SERVER_ERRORS.has(code);
  if (!isError) return;
  span.setAttribute('error.type', name);
  span.setStatus({ code: SpanStatusCode.ERROR, ...(details === undefined ? {} : { message: details }) });
}
