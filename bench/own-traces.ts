import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { TraceEstimator } from '../plugins/dlbricks/traces/estimate-from-traces.js';
import { onnxTarget } from '../plugins/dlbricks/traces/onnx-target.js';
import { openTraceBook } from '../plugins/dlbricks/traces/trace-book.js';
import type { BenchmarkAgent } from '../src/agent/benchmark-agent.js';
import { connectAgent } from '../src/agent/client/agent-client.js';
import { startAgent } from '../src/agent/services/server.js';
import { readTrace } from '../src/foreign-traces/read-trace.js';
import type { Limits, Protocol } from '../src/measurement/protocol.js';
import { weightlessBenchmark } from '../src/measurement/weightless.js';
import { loadModel } from '../src/registry/load-model.js';
import { SPAN_EXPORTERS, type SpanFormat } from '../src/tracing/exporters/index.js';
import { requireTracing } from '../src/tracing/start-tracing.js';
import { CLASSICS } from '../src/zoo/zoo.js';
import { withTemporaryFolder } from '../test/onnx/temporary-folder.js';

const RUN_OPTIONS = { threads: 1, executionProvider: 'cpu', optimizationLevel: 'all' } as const;

const PROTOCOL: Protocol = { warmupRuns: 0, runs: 1, minRuns: 1, timeBudgetMs: 60_000 };

const LIMITS: Limits = { timeLimitMs: 120_000, memoryLimitBytes: 2 ** 33 };

/** The part of a model that its own trace covers. */
export interface OwnTrace {
  readonly model: string;
  readonly format: SpanFormat;
  readonly kernels: number;
  /** Kernels that the trace has a time for. */
  readonly covered: number;
  /** Measurements of each kernel, with the traces in all formats read together: 1, because they are the same trace. */
  readonly occurrences: number;
}

/** Traces a model, exports the trace in every format, and looks the model up in each. */
export async function coverByOwnTrace(
  reference: string,
  agent: BenchmarkAgent,
  folder: string,
): Promise<readonly OwnTrace[]> {
  const tracing = await requireTracing({ serviceName: 'bench', environment: { OTEL_TRACES_EXPORTER: 'none' } });
  const loaded = await loadModel(reference, { batch: 1 });
  const attributes = { model_name: loaded.name };
  const traceId = await tracing.inSpan('evaluation_trace', { level: 'APPLICATION_TRACE', attributes }, async () => {
    const benchmark = weightlessBenchmark(loaded.model);
    const request = { benchmark, runOptions: RUN_OPTIONS, protocol: PROTOCOL, limits: LIMITS };
    await tracing.atLevel('FRAMEWORK_TRACE', () => agent.trace(request, 'FRAMEWORK_TRACE'));
    return tracing.traceId() ?? '';
  });
  await tracing.flush();
  const spans = tracing.takeSpans(traceId);
  const settings = { graph: 'optimized', granularity: 1, runOptions: RUN_OPTIONS } as const;
  const target = await onnxTarget(loaded, settings, () => Promise.resolve(agent), new AbortController().signal);
  const estimateFrom = { reuse: 'all', statistic: 'median', fill: false, calibrate: false } as const;
  const files: string[] = [];
  const found: Omit<OwnTrace, 'occurrences'>[] = [];
  for (const format of Object.keys(SPAN_EXPORTERS) as SpanFormat[]) {
    const file = join(folder, `${format}.json`);
    await writeFile(file, SPAN_EXPORTERS[format](spans));
    files.push(file);
    const { parts } = new TraceEstimator(openTraceBook(await readTrace(file), undefined), estimateFrom).sum(target);
    const covered = parts.filter(({ ms }) => ms !== undefined).length;
    found.push({ model: loaded.name, format, kernels: parts.length, covered });
  }
  const together = (await Promise.all(files.map((file) => readTrace(file)))).flat();
  const { occurrences } = openTraceBook(together, undefined);
  const perKernel = occurrences.length / new Set(occurrences.map(({ position }) => position)).size;
  return found.map((one) => ({ ...one, occurrences: perKernel }));
}

async function main(): Promise<number> {
  const server = await startAgent();
  const agent = await connectAgent(server.address);
  let isWhole = true;
  try {
    for (const { name } of CLASSICS) {
      const results = await withTemporaryFolder((folder) => coverByOwnTrace(`zoo:${name}`, agent, folder));
      for (const { model, format, kernels, covered, occurrences } of results) {
        console.log(`${model} (${format}): ${covered} of ${kernels} kernels; in all formats together ${occurrences}`);
        isWhole &&= covered === kernels && occurrences === 1;
      }
    }
  } finally {
    await agent.close();
    await server.close();
  }
  return isWhole ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = await main();
