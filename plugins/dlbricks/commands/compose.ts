import type { Command } from 'commander';
import {
  type BenchmarkAgent,
  type CommandHost,
  EXIT_PARTIAL,
  identifySystem,
  keepEstimates,
  KnownResults,
  type LoadedModel,
  messageOf,
  PlatformError,
  prepareOutputs,
  type Protocol,
  type ResultStore,
  type RuntimeAxes,
  parseRuntime,
  type System,
  systemDifferences,
  writeShown,
} from '../../../src/plugin-api.js';
import { modelNeeds } from '../bricks/needs.js';
import { prepareModel, type PreparedModel } from '../bricks/prepare-model.js';
import { type Recipe, readRecipe, RECIPE_FORMAT } from '../bricks/recipe.js';
import { composeAll } from '../compose-all.js';
import type { Earlier } from '../estimate/spreads-of-system.js';
import { readResults } from '../exchange/results-file.js';
import { earlierRuns } from '../measure/earlier-runs.js';
import { describeKernels, knownKernels } from '../measure/known-kernels.js';
import { KernelPredictor } from '../predict/kernel-predictor.js';
import type { LayerFacts } from '../work/layer-facts.js';
import { type MeasureSettings, OCCASIONS, findKnown } from '../measure/tasks.js';
import { listKeptEstimates } from '../report/kept-estimates.js';
import type { Report } from '../report/report-schema.js';
import { isPartial, buildReport } from '../report/report.js';
import { addTraceOptions, composeFromTraces, isAboutTraces, type ComposeTracesOptions } from './compose-traces.js';
import { loadAndPrepare } from './prepare-models.js';
import { addReportingOptions, askedRunOptions, refuseCutOptions, parseMeasureSettings } from './options.js';
import { shownReports } from './shown-report.js';
import { NO_WHOLE_MODEL } from '../estimation.js';

interface ComposeOptions extends ComposeTracesOptions {
  readonly recipe?: string;
  readonly results?: string;
}

interface Source {
  readonly system: System;
  readonly store?: ResultStore | undefined;
  readonly predictor?: KernelPredictor | undefined;
  readonly stored?: ReadonlyMap<string, LayerFacts> | undefined;
  readonly results: KnownResults;
  readonly settings: MeasureSettings;
  readonly earlier?: Earlier | undefined;
}

interface Described {
  readonly recipe: Recipe;
  readonly loaded: readonly LoadedModel[];
  readonly prepared?: readonly PreparedModel[] | undefined;
}

async function describedRecipe(
  references: readonly string[],
  options: ComposeOptions,
  agent: BenchmarkAgent,
  host: CommandHost,
): Promise<Described> {
  if (options.recipe !== undefined) return { recipe: await readRecipe(options.recipe), loaded: [] };
  const { loaded, prepared, header } = await loadAndPrepare(references, options, agent, host, prepareModel);
  const models = prepared.map(({ recipe }) => recipe);
  return { recipe: { format: RECIPE_FORMAT, ...header, models }, loaded, prepared };
}

async function findSystem(store: ResultStore, options: ComposeOptions, agent: BenchmarkAgent): Promise<System> {
  const { description } = agent;
  if (options.system === undefined) return identifySystem(description, askedRunOptions(options, description));
  const systems = await store.listSystems();
  const prefix = options.system.toLowerCase();
  const fitting = systems.filter(({ fingerprint }) => fingerprint.startsWith(prefix));
  const [system] = fitting;
  if (system !== undefined && fitting.length === 1) return system;
  const asked = `--system ${options.system}: `;
  if (systems.length === 0) throw new PlatformError('not_found', `${asked}the store has no measurements at all`);
  const settings = systemDifferences(systems, ['processor', 'threads', 'framework']);
  const known = systems.map((system) => {
    const { fingerprint, processor, runOptions, framework, frameworkVersion } = system;
    const facts = [processor, `threads: ${runOptions.threads}`, `${framework} ${frameworkVersion}`, settings(system)];
    return `  ${fingerprint.slice(0, 12)}  ${facts.filter((fact) => fact !== '').join(', ')}`;
  });
  const problem = `${fitting.length === 0 ? 'none' : 'more than one'} of the store's systems has a fingerprint that begins so; the store has:`;
  throw new PlatformError('not_found', [asked + problem, ...known].join('\n'));
}

/** Kernels were measured with the optimizer off. */
function evaluationSystem(system: System, { cut }: Recipe, options: RuntimeAxes): System {
  if (cut === 'layer') return system;
  const { optimization_level: optimizationLevel } = parseRuntime(options);
  return identifySystem(system, { ...system.runOptions, optimizationLevel });
}

async function openSource(
  { recipe, prepared }: Described,
  options: ComposeOptions,
  agent: BenchmarkAgent,
  host: CommandHost,
): Promise<Source> {
  if (options.results !== undefined) {
    const measurements = await readResults(options.results);
    const [first] = measurements.toSorted((a, b) => b.protocol.runs - a.protocol.runs);
    if (first === undefined) throw new PlatformError('usage', `${options.results}: holds no measurements`);
    const system = evaluationSystem(first.system, recipe, options);
    const results = new KnownResults();
    for (const measurement of measurements) results.put(measurement);
    // Graphs of copies run less often than the protocol says.
    const { protocol, limits } = first;
    return { system, results, settings: { runOptions: system.runOptions, protocol, limits } };
  }
  const store = await host.openStore(options.store, { access: 'read' });
  const system = evaluationSystem(await findSystem(store, options, agent), recipe, options);
  const settings = { ...parseMeasureSettings(options, agent.description), runOptions: system.runOptions };
  const needs = recipe.models.flatMap((model) => modelNeeds(model, system, settings.protocol));
  const results = await findKnown(needs, OCCASIONS, system, settings, store);
  const source = { system, store, results, settings, earlier: await earlierRuns(store, system, settings.protocol) };
  if (options.fill !== 'kernels') return source;
  if (recipe.cut === 'layer') throw new PlatformError('usage', '--fill kernels needs the kernel cut');
  const { measured, stored } = await knownKernels(store, describeKernels(prepared ?? []), system, settings);
  return { ...source, predictor: new KernelPredictor(measured), stored };
}

function lookedFor({ runs, warmupRuns, minRuns, timeBudgetMs }: Protocol): string {
  const protocol = `${warmupRuns} warm-up runs, ${runs} runs (${minRuns} at least) in ${timeBudgetMs} ms`;
  return `note: only measurements of this system with ${protocol} count here; 'dlbricks run' or 'dlbricks validate' with the same options measures the missing ones`;
}

/** A user who may only read the store gets the estimates all the same. */
async function keepComposed(
  report: Report,
  loaded: readonly LoadedModel[],
  { store, system }: Source,
  host: CommandHost,
): Promise<void> {
  if (store === undefined) return;
  const known = listKeptEstimates(report, loaded).filter(({ latencyMs }) => latencyMs !== null);
  try {
    await keepEstimates(store, system, known);
  } catch (error) {
    host.warn(`warning: the estimates are not in the store: ${messageOf(error)}`);
  }
}

export function registerCompose(parent: Command, host: CommandHost): void {
  const command = parent
    .command('compose')
    .description('Compose estimates from stored measurements, without measuring')
    .argument('[model...]', 'model manifest (.yml), .onnx file or zoo:NAME')
    .option('--recipe <file>', "recipe that 'generate' wrote, instead of models")
    .option('--results <file>', "results that 'run --suite' wrote, instead of the store")
    .option(
      '--system <system>',
      'system to estimate: first digits of its fingerprint (default: this machine); with traces, its name',
    );
  addReportingOptions(addTraceOptions(command))
    .addHelpText(
      'after',
      `
Examples:
  mlmodelscope dlbricks compose zoo:resnet50
  mlmodelscope dlbricks compose --recipe out/recipe.json --results results.json
  mlmodelscope dlbricks compose my-variant.onnx --fill kernels
  mlmodelscope dlbricks compose --from-traces layers.csv --system "my server"
  mlmodelscope dlbricks compose zoo:resnet50 --from-store --fill model

Traces: trace:NAME is a model in the traces. Without a model, all models in the
traces are estimated. See docs/traces.md.`,
    )
    .action(async (references: string[], options: ComposeOptions) => {
      if (isAboutTraces(options)) {
        await composeFromTraces(references, options, host);
        return;
      }
      if ((references.length === 0) === (options.recipe === undefined)) {
        throw new PlatformError('usage', 'expected either models or --recipe FILE; see --help for examples');
      }
      if (options.recipe !== undefined) refuseCutOptions(options, '--recipe');
      if (options.results !== undefined && (options.system ?? options.store) !== undefined) {
        const option = options.system === undefined ? '--store' : '--system';
        throw new PlatformError('usage', `--results has the measurements and their system; leave ${option} out`);
      }
      const agent = await host.connect(options.agent, options.framework);
      const outputs = await prepareOutputs(options);
      const described = await describedRecipe(references, options, agent, host);
      const { recipe, loaded, prepared } = described;
      const source = await openSource(described, options, agent, host);
      const { system, results, settings, earlier, predictor, stored } = source;
      const { cut, granularity, batch } = recipe;
      const { protocol } = settings;
      const models = recipe.models.map((model, index) => {
        const one = prepared?.[index];
        const kernels = model.bricks.map(({ signature }) => stored?.get(signature));
        const facts = one?.facts ?? kernels.map((kernel) => (kernel === undefined ? [] : [kernel]));
        return { recipe: model, facts, graph: one?.graph, inputs: one?.inputs };
      });
      const composed = composeAll(models, results, system, {
        ...settings,
        cut,
        earlier,
        predictor,
      });
      const isHere = options.results === undefined && options.system === undefined;
      const reasons = { ...NO_WHOLE_MODEL, ...(!isHere && { host: 'measurements of any host with this system' }) };
      const origin = { models: loaded, agent, reasons };
      const report = buildReport(composed, { cut, granularity, batch, protocol, measure: 'none', origin });
      await writeShown(shownReports([{ report, result: composed }], options), outputs, host);
      await keepComposed(report, loaded, source, host);
      if (isPartial(report)) {
        const isMissing = report.models.some(({ missing }) => missing.length > 0);
        if (isMissing && !outputs.quiet && options.results === undefined) host.warn(lookedFor(protocol));
        host.setExitCode(EXIT_PARTIAL);
      }
    });
}
