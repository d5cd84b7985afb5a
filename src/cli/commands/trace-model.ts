import { type Command, Option } from 'commander';
import { addAgentOptions, type AgentOptions, storeDescription } from '../../command/options.js';
import { runsOn } from '../../command/load-models.js';
import { defaultThreads, threadsSchema } from '../../base/default-threads.js';
import { numberOption, wholeNumberOption } from '../../base/option-value.js';
import { dimensionOption } from '../../command/dimension-option.js';
import { type KernelTable, kernelTable } from '../../agent/kernel-table.js';
import type { LayerTrace } from '../../agent/layer-trace.js';
import type { MeasureProgress } from '../../agent/benchmark-agent.js';
import { fittingTable } from '../../base/fitting-table.js';
import type { Column } from '../../base/text-table.js';
import type { CommandHost } from '../../evaluation/plugin.js';
import { nameEvaluated, nameFramework } from '../../evaluation/tell-of-trace.js';
import { batchSizeField } from '../../manifest/evaluation.js';
import { isCoreShared } from '../../measurement/disturbance.js';
import type { Outcome } from '../../measurement/measurement.js';
import { machineWarnings, type NoiseWarning } from '../../measurement/noise.js';
import { type Limits, type Protocol, protocolSchema } from '../../measurement/protocol.js';
import { identifySystem, runOptionsOf, type System } from '../../measurement/system.js';
import { weightlessBenchmark } from '../../measurement/weightless.js';
import { keepLayers } from '../../platform-documents/keep-layers.js';
import { checkDimensions } from '../../registry/check-dimensions.js';
import { requireTracing } from '../../tracing/start-tracing.js';
import type { TraceLevel } from '../../tracing/trace-level.js';
import { documentText } from '../json-documents.js';

const PROTOCOL = { minRuns: 3, timeBudgetMs: 10_000 } as const satisfies Partial<Protocol>;

const LIMITS: Limits = { timeLimitMs: 120_000, memoryLimitBytes: 8 * 2 ** 30 };

/** The level of the spans. The table always has the kernels. */
const LEVELS = ['APPLICATION_TRACE', 'MODEL_TRACE', 'FRAMEWORK_TRACE'] as const satisfies readonly TraceLevel[];

interface TraceModelOptions extends AgentOptions {
  readonly store?: string;
  readonly batch: number;
  readonly threads: number;
  readonly runs: number;
  readonly warmup: number;
  readonly dimension?: ReadonlyMap<string, number>;
  readonly level: (typeof LEVELS)[number];
  readonly json?: boolean;
}

/** Most runs with a profile. The profile of a run takes about a kilobyte per kernel. */
const MOST_RUNS = 1000;

function ms(value: number): string {
  return value.toFixed(3);
}

type KernelRow = KernelTable['rows'][number];

const COLUMNS: readonly Column<KernelRow>[] = [
  { title: 'operator', align: 'left', cell: ({ opName }) => opName },
  { title: 'index', align: 'left', cell: ({ sequenceIndex }) => sequenceIndex },
  { title: 'name', align: 'left', cell: ({ name }) => name },
  { title: 'output', align: 'left', cell: ({ shape }) => shape },
  { title: 'latency (ms)', align: 'right', cell: ({ latencyMs }) => ms(latencyMs) },
  { title: 'share', align: 'right', cell: ({ share }) => `${(share * 100).toFixed(1)} %` },
  { title: 'without tracing (ms)', align: 'right', cell: ({ untracedLatencyMs }) => ms(untracedLatencyMs) },
];

function printTable(host: CommandHost, table: KernelTable): void {
  const { modelMs, tracedModelMs, overheadMs, kernelsMs, rows } = table;
  const fitting = { width: host.columns?.out, dispensable: ['name', 'without tracing (ms)', 'output', 'share'] };
  const { text } = fittingTable(COLUMNS, rows, fitting);
  const percent = ((overheadMs / modelMs) * 100).toFixed(1);
  host.print(
    `${text}
kernels:              ${ms(kernelsMs)} ms in all, as the runtime times them
whole model:          ${ms(modelMs)} ms at MODEL_TRACE, ${ms(tracedModelMs)} ms at FRAMEWORK_TRACE
tracing overhead:     ${ms(overheadMs)} ms (${percent} %); the ${ms(modelMs)} ms and the last column are without it
`,
  );
}

const AGAIN = 'and trace the model again';

/** Warnings about disturbances during the runs of a trace. */
function noiseIn({ conditions, untracedMs }: LayerTrace, { cores }: System, threads: number): readonly NoiseWarning[] {
  const outcome: Outcome = { kind: 'samples', runMs: [...untracedMs], warmupMs: [] };
  const shared = isCoreShared({ conditions, outcome })
    ? `another machine ran on the same core during the runs; use a machine with cores of its own, or wait ${AGAIN}`
    : undefined;
  return machineWarnings({
    conditions: conditions === undefined ? [] : [conditions],
    threads,
    cores,
    again: AGAIN,
    shared,
  });
}

/** `mlmodelscope trace model REFERENCE`: a table of the model's kernels, and its trace in the store. */
export function registerTraceModel(trace: Command, host: CommandHost): void {
  const command = trace
    .command('model')
    .description("Time each kernel of a model by the runtime's own profile, and show the cost of the profile")
    .argument('<model>', 'zoo:NAME, an ONNX file or a model manifest');
  addAgentOptions(command)
    .option('--store <uri>', storeDescription('traces'))
    .option('--batch <n>', 'size of the batch', numberOption(batchSizeField), 1)
    .option('--dimension <name=value>', 'size of another symbolic dimension; may be repeated', dimensionOption)
    .option('--threads <n>', 'threads of the runtime', numberOption(threadsSchema), defaultThreads())
    .option(
      '--runs <n>',
      'number of runs without the profile; as many runs follow with it',
      wholeNumberOption(1, MOST_RUNS),
      20,
    )
    .option('--warmup <n>', 'warm-up runs before them', numberOption(protocolSchema.shape.warmupRuns), 3)
    .addOption(new Option('--level <level>', 'how deep the stored trace goes').choices(LEVELS).default(LEVELS[2]))
    .option('--json', 'the table as JSON')
    .addHelpText('after', '\nExample:\n  mlmodelscope trace model zoo:mobilenet_v2 --threads 2 --runs 50')
    .action(async (reference: string, options: TraceModelOptions) => {
      const { agent: address, framework, store, batch, dimension, threads, runs, warmup, level, json } = options;
      const tracing = await requireTracing({ serviceName: 'mlmodelscope', environment: process.env });
      const results = await host.openStore(store);
      const agent = await host.connect(address, framework);
      const loading = { batch, dimensions: dimension, signal: host.signal };
      const loaded = await host.loadModel(reference, { ...loading, runsOn: runsOn(agent, options) });
      checkDimensions([loaded], dimension);
      const { name, manifest, model } = loaded;
      const { description } = agent;
      const runOptions = runOptionsOf(threads, description);
      const system = identifySystem(description, runOptions);
      nameEvaluated({ models: [loaded], batchSizes: [batch] });
      nameFramework(system);
      const attributes = {
        model_name: name,
        framework_name: system.framework,
        framework_version: system.frameworkVersion,
        batch_size: batch,
        num_warmup_batches: warmup,
        num_batches: runs,
      };
      const progress = host.progress(json === true);
      const onProgress = ({ phase, runsDone, runsTotal }: MeasureProgress): void => {
        progress.step('tracing', runsDone, runsTotal, `${name} (${phase})`);
      };
      const measured = await tracing.atLevel(level, () =>
        tracing.inSpan('evaluation_trace', { level: 'APPLICATION_TRACE', attributes }, async () => {
          const protocol = { ...PROTOCOL, warmupRuns: warmup, runs, minRuns: Math.min(runs, PROTOCOL.minRuns) };
          const request = { benchmark: weightlessBenchmark(model), runOptions, protocol, limits: LIMITS };
          const layers = await agent.trace(request, level, { signal: host.signal, onProgress });
          return { layers, traceId: tracing.traceId() ?? '' };
        }),
      );
      progress.stop();
      const { traceId, layers } = measured;
      const endedAt = new Date().toISOString();
      const evaluated = { name, manifest, batchSize: batch, system, host: description.host, endedAt, traceId };
      await keepLayers(results, { ...evaluated, ...layers });
      for (const { message } of noiseIn(layers, system, threads)) host.warn(message);
      const table = kernelTable(layers);
      if (json === true) {
        host.print(documentText('model-trace', { model: name, system, traceId, ...table, rows: [...table.rows] }));
        return;
      }
      printTable(host, table);
      host.print(`trace:                ${traceId}\n`);
    });
}
