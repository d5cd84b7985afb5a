import { partsOf } from '../../base/long-lists.js';
import type { Metadata } from '@grpc/grpc-js';
import { type TraceServiceServer, TraceServiceService } from '../../generated/mlmodelscope/trace/v1/trace.js';
import { MAX_MESSAGE_BYTES } from '../../rpc/limits.js';
import type { RpcServer } from '../../rpc/server.js';
import { tracingIfInstalled } from '../../tracing/start-tracing.js';
import { activeTracing } from '../../tracing/tracing.js';
import type { MeasureProgress } from '../benchmark-agent.js';
import type { BenchmarkServiceOptions } from './benchmark-service.js';
import { defaultMemoryLimitBytes } from './describe-machine.js';
import { endedAs } from '../worker/job-end.js';
import { fromWireLevel, toWireLayerTrace, toWireSpan } from '../wire/trace-wire.js';
import { fromWireBenchmark, fromWireProtocol, fromWireRunOptions, toWireProgress } from '../wire/benchmark-wire.js';

const SPANS_PER_MESSAGE = 500;

/** Runs the work in the caller's trace. The server has already set this trace, unless tracing was off until now. */
async function inCallersTrace<T>(metadata: Metadata, work: () => Promise<T>): Promise<T> {
  if (activeTracing() !== undefined) return work();
  const tracing = await tracingIfInstalled({ serviceName: 'mlmodelscope-agent', environment: process.env });
  if (tracing === undefined) return work();
  const headers = Object.fromEntries(Object.entries(metadata.getMap()).map(([name, value]) => [name, String(value)]));
  return tracing.under(headers, work);
}

export function addTraceService(server: RpcServer, options: BenchmarkServiceOptions): void {
  const { description, runner } = options;
  const { calls } = server;

  const answers = {
    traceBenchmark: calls.streaming(async (call, signal) => {
      const { request } = call;
      const benchmark = fromWireBenchmark(request.benchmark);
      const runOptions = fromWireRunOptions(request.runOptions);
      const { protocol, limits } = fromWireProtocol(request.protocol, defaultMemoryLimitBytes(description));
      const onProgress = (progress: MeasureProgress): void => calls.tell(call, toWireProgress(progress), signal);
      const job = { kind: 'trace', benchmark, runOptions, protocol, limits } as const;
      const ofBoth = { ...limits, timeLimitMs: 2 * limits.timeLimitMs };
      const run = () => runner.run(job, ofBoth, { signal, onProgress });
      const { end } = await inCallersTrace(call.metadata, async () => {
        return activeTracing()?.atLevel(fromWireLevel(request.level), run) ?? run();
      });
      const trace = toWireLayerTrace(endedAs(end, 'traced').trace);
      call.write({ event: { $case: 'trace', value: trace } });
    }),
    takeSpans: calls.streaming(async (call, signal) => {
      const spans = activeTracing()?.takeSpans(call.request.traceId) ?? [];
      for (const some of partsOf(spans, SPANS_PER_MESSAGE)) {
        await calls.send(call, { spans: some.map(toWireSpan) }, signal);
      }
    }),
  } satisfies TraceServiceServer;
  server.addService(TraceServiceService, answers, { maxRequestBytes: { traceBenchmark: MAX_MESSAGE_BYTES } });
}
