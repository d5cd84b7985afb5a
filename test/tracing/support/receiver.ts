import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../support/free-port.js';

/** The path of the OpenTelemetry Collector, which test/tracing/receiver/build.sh builds. */
const COLLECTOR = process.env['OTEL_COLLECTOR'];

/** Options for describe and test: skips if there is no collector. */
export const needsReceiver = {
  skip: COLLECTOR === undefined && 'needs a tracing receiver: OTEL_COLLECTOR=$(test/tracing/receiver/build.sh)',
};

const CONFIGURATION = fileURLToPath(new URL('../../../../test/tracing/receiver/collector.yml', import.meta.url));

const POLL_MS = 50;
const LIMIT_MS = 30_000;

/** Several times as long as the collector waits before it writes. */
const SETTLED_MS = 500;

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** '' for a root. */
  readonly parentSpanId: string;
  readonly name: string;
  /** 2 is a server, 3 a client. */
  readonly kind: number;
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly service: string;
  /** Of the service. */
  readonly version: unknown;
}

export interface Receiver {
  readonly grpcEndpoint: string;
  readonly httpEndpoint: string;
  /** The received spans, of one trace or of all, once no more arrive. */
  spans(traceId?: string): Promise<readonly ReceivedSpan[]>;
}

interface KeyValue {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface OtlpSpan extends Omit<ReceivedSpan, 'attributes' | 'service' | 'startNs' | 'endNs'> {
  readonly attributes?: readonly KeyValue[];
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
}

interface OtlpRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

function recordOf(attributes: readonly KeyValue[] = []): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}

/** The spans of an ExportTraceServiceRequest in JSON. */
export function spansIn(text: string): readonly ReceivedSpan[] {
  const { resourceSpans } = JSON.parse(text) as OtlpRequest;
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const { 'service.name': service, 'service.version': version } = recordOf(resource.attributes);
    return scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        ...span,
        parentSpanId: span.parentSpanId ?? '',
        startNs: BigInt(span.startTimeUnixNano),
        endNs: BigInt(span.endTimeUnixNano),
        attributes: recordOf(span.attributes),
        service: String(service),
        version,
      })),
    );
  });
}

/** Starts a collector, which ends with the test. */
export async function startReceiver(t: TestContext): Promise<Receiver> {
  const folder = await mkdtemp(join(tmpdir(), 'receiver-'));
  const file = join(folder, 'traces.jsonl');
  const grpc = `127.0.0.1:${await freePort()}`;
  const http = `127.0.0.1:${await freePort()}`;
  const child = spawn(COLLECTOR ?? '', ['--config', `file:${CONFIGURATION}`], {
    env: { ...process.env, RECEIVER_GRPC: grpc, RECEIVER_HTTP: http, RECEIVER_FILE: file },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  t.after(async () => {
    child.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text));
  await until(() => {
    if (child.exitCode !== null) throw new Error(`the collector ended:\n${log}`);
    return log.includes('Everything is ready');
  });
  const received = async (): Promise<readonly ReceivedSpan[]> => {
    const lines = (await readFile(file, 'utf8').catch(() => '')).split('\n');
    // The last line may still be written to.
    return lines.slice(0, -1).flatMap(spansIn);
  };
  return {
    grpcEndpoint: `http://${grpc}`,
    httpEndpoint: `http://${http}`,
    async spans(traceId) {
      let spans: readonly ReceivedSpan[] = [];
      let unchanged = 0;
      await until(async () => {
        const before = spans.length;
        spans = (await received()).filter((span) => traceId === undefined || span.traceId === traceId);
        unchanged = spans.length > 0 && spans.length === before ? unchanged + 1 : 0;
        return unchanged * POLL_MS >= SETTLED_MS;
      });
      return spans;
    },
  };
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + LIMIT_MS;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error('waited in vain for the receiver');
    await setTimeout(POLL_MS);
  }
}
