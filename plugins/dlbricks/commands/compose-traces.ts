import { setImmediate } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import {
  type BenchmarkAgent,
  type CommandHost,
  EXIT_PARTIAL,
  type LoadedModel,
  loadModels,
  oneLine,
  PlatformError,
  prepareOutputs,
  buildProvenance,
  type TracedModel,
  writeShown,
  readStoredTraces,
  storedSystems,
  append,
} from '../../../src/plugin-api.js';
import { chromeTrace, timedSum } from '../traces/chrome-trace.js';
import {
  type EstimateSettings,
  type Statistic,
  STATISTICS,
  type TracedSum,
  TraceEstimator,
} from '../traces/estimate-from-traces.js';
import { type Reuse, REUSES } from '../traces/find-occurrences.js';
import { onnxTarget, withCall } from '../traces/onnx-target.js';
import { type FileGraph, openTraceBook, type Target, type TraceBook } from '../traces/trace-book.js';
import { buildTraceReport } from '../traces/trace-report.js';
import { formatOption, readTraces, type TraceReadingOptions, withSystem } from './import.js';
import { askedRunOptions, type MeasuringOptions, type PlaceOptions } from './options.js';
import { NO_WHOLE_MODEL } from '../estimation.js';
import { shownTraceReport } from '../traces/trace-tables.js';

export interface ComposeTracesOptions extends MeasuringOptions, PlaceOptions, TraceReadingOptions {
  readonly fromTraces?: readonly string[];
  readonly fromStore?: boolean;
  readonly statistic?: Statistic;
  readonly occurrences?: Reuse;
  readonly fill?: 'model' | 'kernels';
  readonly calibrate?: boolean;
}

const NO_LAYERS = 'the traces hold no model with layers';

const IN_TRACES = 'trace:';

export function addTraceOptions(command: Command): Command {
  return command
    .option('--from-traces <file...>', 'compose from these traces or layer tables, instead of measurements of bricks')
    .option('--from-store', "compose from traces that 'import' stored")
    .addOption(formatOption())
    .addOption(
      new Option('--statistic <name>', 'statistic over the measurements of one layer (default: median)').choices(
        STATISTICS,
      ),
    )
    .addOption(
      new Option(
        '--occurrences <whose>',
        "measurements to use: all, the model's own, or other models' (default: all)",
      ).choices(REUSES),
    )
    .addOption(
      new Option(
        '--fill <how>',
        'estimate what was not measured from measurements of the same operator: model, unmeasured layers from traces; kernels, unmeasured bricks from the store',
      ).choices(['model', 'kernels']),
    )
    .option('--calibrate', 'multiply by measured / estimated latency of the other models in the traces');
}

/** @throws PlatformError `usage` for options that belong to the other kind */
export function isAboutTraces(
  options: ComposeTracesOptions & { readonly recipe?: string; readonly results?: string },
): boolean {
  const { fromTraces, fromStore = false, recipe, results, fill } = options;
  const isAbout = fromTraces !== undefined || fromStore;
  const refuse = (problem: string): never => {
    throw new PlatformError('usage', problem);
  };
  if (fromTraces !== undefined && fromStore) refuse('expected either --from-traces or --from-store');
  if (isAbout && (recipe ?? results) !== undefined)
    refuse('--recipe and --results need measured bricks and cannot be used with traces');
  if (isAbout && fill === 'kernels') refuse('--fill kernels needs measured bricks; traces have --fill model');
  if (fill === 'kernels' && results !== undefined)
    refuse('--fill kernels needs the measurements of a store and cannot be used with --results');
  const own = ['format', 'statistic', 'occurrences', 'fill', 'calibrate'] as const;
  const stray = own.find((key) => options[key] !== undefined && options[key] !== 'kernels');
  if (!isAbout && stray !== undefined) refuse(`--${stray} is for --from-traces and --from-store`);
  return isAbout;
}

async function readSourceTraces(
  options: ComposeTracesOptions,
  host: CommandHost,
): Promise<{ readonly models: readonly TracedModel[]; readonly system: string }> {
  if (options.fromTraces !== undefined) {
    const models = withSystem(await readTraces(options.fromTraces, options, host), options.system);
    const [system, ...others] = new Set(models.map((model) => model.system));
    if (system === undefined) throw new PlatformError('usage', NO_LAYERS);
    if (others.length === 0) return { models, system };
    const problem = 'the traces: measurements of several systems cannot be combined; give the traces of one of them';
    throw new PlatformError('usage', `${problem}:${formatSystems([system, ...others])}`);
  }
  const store = await host.openStore(options.store, { access: 'read' });
  const system = onlySystem(await storedSystems(store), options.system);
  return { models: await readStoredTraces(store, system), system };
}

function formatSystems(systems: readonly string[]): string {
  return systems.map((name) => `\n  ${oneLine(name)}`).join('');
}

/**
 * Measurements of two systems never mix.
 *
 * @throws PlatformError `not_found` for a store without traces; `usage` where no system fits, or several do
 */
function onlySystem(systems: readonly string[], asked: string | undefined): string {
  const fitting = asked === undefined ? systems : systems.filter((system) => system === asked);
  const [system] = fitting;
  if (system !== undefined && fitting.length === 1) return system;
  if (systems.length === 0) {
    throw new PlatformError('not_found', "the store holds no traces; 'dlbricks import FILE' adds some");
  }
  throw new PlatformError(
    'usage',
    asked === undefined
      ? `the store: measurements of several systems cannot be combined; choose one with --system:${formatSystems(systems)}`
      : `the store: no system is called ${JSON.stringify(asked)}; the systems are:${formatSystems(systems)}`,
  );
}

function targetInTraces(reference: string, book: TraceBook): Target {
  const name = reference.slice(IN_TRACES.length);
  const target = book.targets.find((candidate) => candidate.name === name);
  if (target !== undefined) return target;
  const problem = book.refused.get(name);
  if (problem !== undefined) throw new PlatformError('usage', problem);
  const known = book.targets.map((candidate) => `\n  ${IN_TRACES}${oneLine(candidate.name)}`).join('');
  throw new PlatformError('not_found', `${reference}: the traces have no model of this name; they have:${known}`);
}

/** The graph that fits best: frameworks trace layers, optimizing runtimes kernels, which open dimensions change. */
async function estimateOnnx(
  model: LoadedModel,
  options: ComposeTracesOptions,
  estimator: TraceEstimator,
  agent: () => Promise<BenchmarkAgent>,
  host: CommandHost,
): Promise<TracedSum> {
  const settings = { granularity: options.granularity ?? 1, runOptions: askedRunOptions(options) };
  const estimateGraph = async (graph: FileGraph): Promise<TracedSum> => {
    const target = await onnxTarget(model, { ...settings, graph }, agent, host.signal);
    return estimator.sum(options.occurrences === 'others' ? target : withCall(target, estimator.book));
  };
  const { cut } = options;
  const openToo = model.open === undefined ? [] : (['optimized_open'] as const);
  const optimized: readonly FileGraph[] = cut === 'layer' ? [] : ['optimized', ...openToo];
  const [first = 'source', ...others] = cut === 'kernel' ? optimized : (['source', ...optimized] as const);
  let best = await estimateGraph(first);
  for (const graph of others) {
    if (best.measuredShare === 1) break;
    const sum = await estimateGraph(graph);
    const better = sum.coverage - best.coverage || sum.measuredShare - best.measuredShare;
    if (better > 0) best = sum;
  }
  return best;
}

export async function composeFromTraces(
  references: readonly string[],
  options: ComposeTracesOptions,
  host: CommandHost,
): Promise<void> {
  const drawing = options.exportSvg === undefined ? options.exportDot && '--export-dot' : '--export-svg';
  if (drawing !== undefined) {
    const problem = `${drawing} draws estimates from bricks`;
    throw new PlatformError('usage', `${problem}; of traces, --trace-out writes the layers`);
  }
  const outputs = await prepareOutputs(options);
  const { models, system } = await readSourceTraces(options, host);
  const book = openTraceBook(models, options.granularity);
  const settings: EstimateSettings = {
    reuse: options.occurrences ?? 'all',
    statistic: options.statistic ?? 'median',
    fill: options.fill !== undefined,
    calibrate: options.calibrate ?? false,
  };
  const estimator = new TraceEstimator(book, settings);
  let connected: Promise<BenchmarkAgent> | undefined;
  const agent = (): Promise<BenchmarkAgent> => (connected ??= host.connect(options.agent, options.framework));
  const files = references.filter((reference) => !reference.startsWith(IN_TRACES));
  const inFiles = await loadModels(files, options, host);
  /** An interrupt takes effect between two models. */
  const estimateTargets = async (targets: readonly Target[], reuse: Reuse): Promise<TracedSum[]> => {
    const found: TracedSum[] = [];
    for (const target of targets) {
      await setImmediate();
      if (host.signal.aborted) throw new PlatformError('cancelled', 'interrupted');
      found.push(estimator.sum(target, reuse));
    }
    return found;
  };
  const inTraces = references.filter((name) => name.startsWith(IN_TRACES));
  const targets = inTraces.map((reference) => targetInTraces(reference, book));
  const sums = await estimateTargets(targets, settings.reuse);
  for (const model of inFiles) sums.push(await estimateOnnx(model, options, estimator, agent, host));
  const [refused] = book.refused.values();
  if (references.length === 0 && refused !== undefined) throw new PlatformError('usage', refused);
  if (references.length === 0) append(sums, await estimateTargets(book.targets, settings.reuse));
  if (sums.length === 0) throw new PlatformError('usage', NO_LAYERS);
  // The error of estimates is learned from estimates that use no measurement of their own model.
  const whole = book.targets.filter(({ wholeMs }) => wholeMs !== undefined);
  const known = await estimateTargets(whole, settings.reuse === 'own' ? 'own' : 'others');
  const sources = [...new Set(models.map(({ source }) => source))];
  const ofSystem = 'the traces name their system only, see system';
  const reasons = { ...NO_WHOLE_MODEL, protocol: 'the traces do not state it', host: ofSystem, stack: ofSystem };
  const provenance = buildProvenance({ models: inFiles, reasons });
  const { granularity } = options;
  const report = buildTraceReport(sums, known, book, { ...settings, system, sources, provenance, granularity });
  const pictures = { trace: () => chromeTrace(sums.map((sum) => timedSum(sum, system))) };
  await writeShown({ ...shownTraceReport(report), pictures }, outputs, host);
  if (report.models.some((model) => !model.covers_whole_model)) host.setExitCode(EXIT_PARTIAL);
}
