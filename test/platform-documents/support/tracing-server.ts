import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { type ReceivedSpan, spansIn } from '../../tracing/support/receiver.js';

export interface TracingServer {
  /** Environment variables that make a command send its traces here. */
  readonly env: Readonly<Record<string, string>>;
  readonly traceUrlTemplate: string;
  /** The spans of all requests, in the order of their arrival. */
  readonly spans: readonly ReceivedSpan[];
}

/** A trace as Jaeger's query service returns it at /api/traces/ID; source: jaeger, model/json/model.go. */
function jaegerTrace(traceID: string, spans: readonly ReceivedSpan[]): object {
  const written = spans.map(({ spanId, parentSpanId, name, startNs, endNs, attributes }) => ({
    traceID,
    spanID: spanId,
    operationName: name,
    references: parentSpanId === '' ? [] : [{ refType: 'CHILD_OF', traceID, spanID: parentSpanId }],
    startTime: Number(startNs / 1000n),
    duration: Number((endNs - startNs) / 1000n),
    tags: Object.entries(attributes).map(([key, value]) => ({ key, type: 'string', value: String(value) })),
    processID: 'p1',
  }));
  return { data: [{ traceID, spans: written, processes: { p1: { serviceName: 'test', tags: [] } } }] };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** A tracing server that receives OTLP as JSON and returns Jaeger's JSON. */
export async function startTracingServer(t: TestContext): Promise<TracingServer> {
  const received: ReceivedSpan[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const path = new URL(request.url ?? '', 'http://localhost').pathname;
      response.setHeader('content-type', 'application/json');
      if (request.method === 'POST') {
        received.push(...spansIn(await bodyOf(request)));
        response.end('{}');
        return;
      }
      const traceId = path.replace('/api/traces/', '');
      response.end(
        JSON.stringify(
          jaegerTrace(
            traceId,
            received.filter((span) => span.traceId === traceId),
          ),
        ),
      );
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: address, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' },
    traceUrlTemplate: `${address}/api/traces/{trace_id}?raw=true`,
    spans: received,
  };
}
