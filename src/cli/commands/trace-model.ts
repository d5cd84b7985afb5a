import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  addAgentOptions,
  addQuietOption,
  addTableOptions,
  type AgentOptions,
  type OutputOptions,
  dimensionOption,
} from '../../command/options.js';
import { prepareOutputs, writeShown } from '../../command/outputs.js';
import { runsOn } from '../../command/load-models.js';
import { defaultThreads, threadsSchema } from '../../base/default-threads.js';
import { inPercent } from '../../base/in-percent.js';
import { numberOption, wholeNumberOption } from '../../base/option-value.js';
import { type KernelRow, type KernelTable, kernelTable, type OperatorRow } from '../../agent/kernel-table.js';
import { type Provenance, buildProvenance } from '../../agent/provenance.js';
import type { LayerTrace } from '../../agent/layer-trace.js';
import type { BenchmarkAgent, MeasureProgress } from '../../agent/benchmark-agent.js';
import { requireWritable, writeResult } from '../../base/output-file.js';
import { counted } from '../../base/counted.js';
import { messageOf, PlatformError } from '../../base/errors.js';
import { fittingTable, leftOutLines } from '../../base/fitting-table.js';
import { type Column, textTable, left, right } from '../../base/text-table.js';
import { wrap } from '../../base/wrap.js';
import type { CommandHost } from '../../evaluation/plugin.js';
import type { ShownResult } from '../../evaluation/evaluation.js';
import { setSpanModels, setSpanFramework } from '../../evaluation/span-attributes.js';
import { batchSizeField, DEFAULT_LIMITS } from '../../manifest/evaluation.js';
import { isCoreShared } from '../../measurement/disturbance.js';
import { isOutermost } from '../../measurement/kernel-facts.js';
import type { Outcome } from '../../measurement/measurement.js';
import { machineWarnings, type NoiseWarning } from '../../measurement/noise.js';
import { type Protocol, protocolSchema } from '../../measurement/protocol.js';
import {
  identifySystem,
  optimizingRun,
  type RunOptions,
  buildRunOptions,
  type System,
} from '../../measurement/system.js';
import { stackText, toSystemDocument } from '../../measurement/system-document.js';
import { modelFromBenchmark, weightlessBenchmark } from '../../measurement/weightless.js';
import { isCompletelyTyped, layerGraph } from '../../onnx/layers/layer-graph.js';
import { sharesOfLayers } from '../../onnx/layers/shares-of-layers.js';
import type { Model } from '../../onnx/model/model.js';
import { annotatedModel } from '../../registry/annotated-model.js';
import { keepLayers } from '../../platform-documents/keep-layers.js';
import { checkDimensions } from '../../registry/check-dimensions.js';
import { tracingIfInstalled } from '../../tracing/start-tracing.js';
import { levelProblem, MADE_LEVELS } from '../../tracing/trace-level.js';
import { unlessUnavailable } from '../../store/unless-unavailable.js';
import type { SourceLayer } from '../../foreign-traces/collect-models.js';
import { buildTracedModel } from '../../traced/traced-kernels.js';
import { storeTraces } from '../../traced/traced-models.js';
import { icicleChart, partsByKind } from '../../web/charts.js';
import { toDocument } from '../document-text.js';
import { storeDescription } from '../../command/store-description.js';

const PROTOCOL = { minRuns: 3, timeBudgetMs: 10_000 } as const satisfies Partial<Protocol>;

/** The level of the spans. The table always has the kernels. */
const LEVELS = MADE_LEVELS.filter((level) => level !== 'NO_TRACE');

interface TraceModelOptions extends AgentOptions, OutputOptions {
  readonly store?: string;
  readonly batch: number;
  readonly threads: number;
  readonly runs: number;
  readonly warmup: number;
  readonly dimension?: ReadonlyMap<string, number>;
  readonly level: (typeof LEVELS)[number];
  readonly annotate?: string;
}

/** Most runs with a profile. The profile of a run takes about a kilobyte per kernel. */
const MAX_RUNS = 1000;

function ms(value: number): string {
  return value.toFixed(3);
}

const COLUMNS: readonly Column<KernelRow>[] = [
  left('operator', ({ opName }) => opName),
  left('index', ({ sequenceIndex }) => sequenceIndex),
  left('name', ({ name }) => name),
  left('output', ({ shape }) => shape),
  right('latency (ms)', ({ latencyMs }) => ms(latencyMs)),
  right('share', ({ share }) => inPercent(share)),
];

const OPERATOR_COLUMNS: readonly Column<OperatorRow>[] = [
  left('operator', ({ opName }) => opName),
  right('kernels', ({ kernels }) => String(kernels)),
  right('latency (ms)', ({ latencyMs }) => ms(latencyMs)),
  right('share', ({ share }) => inPercent(share)),
];

function overheadText({ modelMs, overheadMs }: KernelTable): string {
  if (overheadMs > 0) return `${ms(overheadMs)} ms (${inPercent(overheadMs / modelMs)})`;
  return `not seen: runs differ by more than it (by ${ms(-overheadMs)} ms)`;
}

function formatSummary(table: KernelTable): readonly string[] {
  const { modelMs, tracedModelMs, kernelsMs } = table;
  return [
    `kernels:          ${ms(kernelsMs)} ms in all, as the runtime times them`,
    `whole model:      ${ms(modelMs)} ms without tracing, ${ms(tracedModelMs)} ms with the kernels timed`,
    `tracing overhead: ${overheadText(table)}`,
  ];
}

interface TraceOf {
  readonly name: string;
  readonly system: System;
  readonly traceId?: string | undefined;
  readonly provenance: Provenance;
}

function shownKernels(table: KernelTable, { name, system, traceId, provenance }: TraceOf): ShownResult {
  const ofTrace = traceId === undefined ? [] : [`trace:            ${traceId}`];
  return {
    result: () => ({
      document: toDocument('model-trace', {
        provenance,
        model: name,
        system,
        traceId,
        ...table,
        operators: [...table.operators],
        rows: [...table.rows],
      }),
      records: {
        keys: [
          ...['sequence_index', 'op_name', 'name', 'shape', 'input_shape', 'element_type', 'execution_provider'],
          ...['latency_ms', 'share', 'runs'],
        ],
        rows: table.rows.map((row) => [
          ...[row.sequenceIndex, row.opName, row.name, row.shape, row.inputShape, row.elementType],
          ...[row.executionProvider, row.latencyMs, row.share, row.runs],
        ]),
      },
      table: textTable(COLUMNS, table.rows),
      notes: [
        ...table.operators.map((row) => {
          return `${row.opName}: ${counted(row.kernels, 'kernel')}, ${ms(row.latencyMs)} ms, ${inPercent(row.share)}`;
        }),
        ...[...formatSummary(table), ...ofTrace].map((line) => line.replace(/: +/, ': ')),
      ],
    }),
    page: () => {
      const outermost = table.rows.filter(isOutermost);
      const parts = outermost.map((row) => {
        const hint = `${row.opName} ${row.name} ${row.shape}: ${ms(row.latencyMs)} ms, ${inPercent(row.share)}, ${counted(row.runs, 'run')}`;
        return { kind: row.opName, name: row.name === '' ? row.opName : row.name, ms: row.latencyMs, hint };
      });
      const [slowest] = table.operators;
      const most = slowest && ` ${slowest.opName} takes ${inPercent(slowest.share)} of the kernels' time.`;
      return {
        title: `Kernels of ${name} on ${stackText(toSystemDocument(system))}`,
        verdict: `The whole model takes ${ms(table.modelMs)} ms.${most ?? ''} Cost of timing them: ${overheadText(table)}.`,
        sections: [
          {
            title: 'Where the time goes',
            lead: 'The model above its operators, and these above their kernels. Widths are times.',
            chart: icicleChart([partsByKind(name, parts)]),
            table: textTable(OPERATOR_COLUMNS, table.operators),
          },
          { title: 'Kernels', table: textTable(COLUMNS, table.rows) },
        ],
      };
    },
    text: ({ width }) => {
      const kernels = fittingTable(COLUMNS, table.rows, { width, dispensable: ['name', 'output', 'share'] });
      const operators = fittingTable(OPERATOR_COLUMNS, table.operators, { width, dispensable: ['share', 'kernels'] });
      const lines = [...formatSummary(table), ...ofTrace].map((line) => wrap(line, width ?? Infinity, '  '));
      const tables = [kernels.text, ...leftOutLines(kernels, width), operators.text, ...leftOutLines(operators, width)];
      return `${[...tables, ...lines].join('\n')}\n`;
    },
  };
}

/** A name for people; at most 200 characters, which a store keeps. */
function nameOfSystem({ processor, framework, frameworkVersion }: System, host: string): string {
  return `${host}, ${processor}, ${framework}, ${frameworkVersion}`.slice(0, 200);
}

const AGAIN = 'and trace the model again';

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

/** The outermost kernels of a trace, and for each of them the layers of the author's graph that it computes. */
async function onAuthorsGraph(
  model: Model,
  runOptions: RunOptions,
  rows: readonly KernelRow[],
  agent: BenchmarkAgent,
  signal: AbortSignal,
) {
  const benchmark = weightlessBenchmark(model);
  const inferred = isCompletelyTyped(model) ? undefined : await agent.inferTypes(benchmark, signal);
  const optimized = await agent.optimize(benchmark, optimizingRun(runOptions), signal);
  const { graph } = modelFromBenchmark(optimized.benchmark, `${model.source}, optimized`);
  const source = layerGraph(model, inferred);
  const timed = rows.filter(isOutermost).toSorted((a, b) => Number(a.sequenceIndex) - Number(b.sequenceIndex));
  const names = timed.map(({ name }) => name);
  return { source, timed, shares: sharesOfLayers(source, graph.nodes, names) };
}

/** The author's layers by the index of a kernel. */
function mapSources({
  source,
  timed,
  shares,
}: Awaited<ReturnType<typeof onAuthorsGraph>>): ReadonlyMap<string, readonly SourceLayer[]> {
  return new Map(
    timed.map(({ sequenceIndex }, at) => [
      sequenceIndex,
      (shares[at] ?? []).map(({ layer, share }) => {
        const { name = '', opType = '' } = source.layers[layer] ?? {};
        return { index: layer, name: name === '' ? opType : name, operator: opType, share };
      }),
    ]),
  );
}

function levelOption(text: string): (typeof LEVELS)[number] {
  const found = LEVELS.find((level) => level === text);
  if (found !== undefined) return found;
  throw new InvalidArgumentError(levelProblem(text) ?? `expected one of ${LEVELS.join(', ')}`);
}

export function registerTraceModel(trace: Command, host: CommandHost): void {
  const command = trace
    .command('model')
    .description("Time each kernel of a model by the runtime's own profile, and show the cost of the profile")
    .argument('<model>', 'zoo:NAME, an ONNX file or a model manifest');
  addQuietOption(addTableOptions(addAgentOptions(command), 'kernel'))
    .option('--store <uri>', storeDescription('traces'))
    .option('--batch <n>', 'size of the batch', numberOption(batchSizeField), 1)
    .option('--dimension <name=value>', 'size of a named dimension, as in seq=128; may be repeated', dimensionOption)
    .option('--threads <n>', 'threads of the runtime', numberOption(threadsSchema), defaultThreads())
    .option('--runs <n>', 'number of runs without the profile, and as many with it', wholeNumberOption(1, MAX_RUNS), 20)
    .option(
      '--annotate <file>',
      "write the author's graph without weights, with the time of each layer in its node's metadata",
    )
    .option('--warmup <n>', 'warm-up runs before them', numberOption(protocolSchema.shape.warmupRuns), 3)
    .addOption(
      new Option('--level <level>', `how deep the stored trace goes: ${LEVELS.join(', ')}`)
        .argParser(levelOption)
        .default('FRAMEWORK_TRACE'),
    )
    .addHelpText(
      'after',
      `
Kernels and operators are sorted by their time.

Examples:
  mlmodelscope trace model zoo:mobilenet_v2 --threads 2 --runs 50
  mlmodelscope trace model my-model.onnx --export-csv kernels.csv`,
    )
    .action(async (reference: string, options: TraceModelOptions) => {
      const { agent: address, framework, store, batch, dimension, threads, runs, warmup, level } = options;
      const outputs = await prepareOutputs(options);
      if (options.annotate === '-')
        throw new PlatformError('usage', '--annotate writes an ONNX file; name a file for it');
      // The kernels' times need no tracing.
      const tracing = await tracingIfInstalled({ serviceName: 'mlmodelscope', environment: process.env }, (reason) => {
        host.warn(`note: the store gets no trace of the runs: ${reason}`);
      });
      if (options.annotate !== undefined) await requireWritable(options.annotate);
      const results = await host.openStore(store);
      const agent = await host.connect(address, framework);
      const { signal } = host;
      const sized = await host.readModel(reference, { signal, runsOn: runsOn(agent, options) });
      const loaded = await sized({ batch, dimensions: dimension });
      checkDimensions([loaded], dimension);
      const { name, manifest, model } = loaded;
      const { description } = agent;
      const runOptions = buildRunOptions(threads, description);
      const system = identifySystem(description, runOptions);
      setSpanModels({ models: [loaded], batchSizes: [batch] });
      setSpanFramework(system);
      const attributes = {
        model_name: name,
        framework_name: system.framework,
        framework_version: system.frameworkVersion,
        batch_size: batch,
        num_warmup_batches: warmup,
        num_batches: runs,
      };
      const progress = host.progress(outputs.quiet);
      const onProgress = ({ phase, runsDone, runsTotal }: MeasureProgress): void => {
        progress.step('tracing', runsDone, runsTotal, `${name} (${phase})`);
      };
      const protocol = { ...PROTOCOL, warmupRuns: warmup, runs, minRuns: Math.min(runs, PROTOCOL.minRuns) };
      const request = { benchmark: weightlessBenchmark(model), runOptions, protocol, limits: DEFAULT_LIMITS };
      const measure = async () => {
        const layers = await agent.trace(request, level, { signal: host.signal, onProgress });
        const table = kernelTable(layers);
        // Inside of the same span: a trace of its own would be the latest one in the store.
        const placing = onAuthorsGraph(model, runOptions, table.rows, agent, host.signal);
        const placed = await placing.catch((error: unknown) => {
          if (options.annotate !== undefined || host.signal.aborted) throw error;
          host.warn(`note: which of the author's layers the kernels compute is not known: ${messageOf(error)}`);
          return undefined;
        });
        return { layers, table, placed, traceId: tracing?.traceId() };
      };
      const span = { level: 'APPLICATION_TRACE', attributes } as const;
      const { layers, table, placed, traceId } = await (
        tracing?.atLevel(level, () => tracing.inSpan('evaluation_trace', span, measure)) ?? measure()
      ).finally(() => progress.stop());
      const provenance = buildProvenance({
        models: [loaded],
        protocol,
        agent: { description },
        reasons: { stack: 'see system' },
      });
      const endedAt = new Date().toISOString();
      const evaluated = { name, manifest, batchSize: batch, system, host: description.host, endedAt, traceId };
      await keepLayers(results, { ...evaluated, ...layers });
      const source = `trace model ${reference}`;
      const wholes = { wholeMs: layers.untracedMs, tracedWholeMs: layers.tracedMs };
      const about = { model: name, system: nameOfSystem(system, description.host), source, ...wholes };
      const identified = { ...about, traceIds: traceId === undefined ? [] : [traceId] };
      const traced = buildTracedModel(layers.kernels, identified, placed && mapSources(placed));
      const own = { system, host: description.host, batch };
      await unlessUnavailable(storeTraces([traced], results, new Date(endedAt), own));
      for (const { message } of noiseIn(layers, system, threads)) host.warn(`warning: ${message}`);
      if (options.annotate !== undefined && placed !== undefined) {
        const { bytes, unplacedMs } = annotatedModel(model, placed.source, placed.timed, placed.shares);
        await writeResult(options.annotate, bytes);
        host.warn(`note: ${options.annotate}: ${ms(unplacedMs)} ms are of kernels that compute no layer of the author`);
      }
      await writeShown(shownKernels(table, { name, system, traceId, provenance }), outputs, host);
    });
}
