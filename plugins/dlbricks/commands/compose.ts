import type { Command } from 'commander';
import {
  type BenchmarkAgent,
  type CommandHost,
  EXIT_PARTIAL,
  PlatformError,
  type Protocol,
  type ResultStore,
  type System,
  withFingerprint,
} from '../../../src/plugin-api.js';
import { compose } from '../estimate/compose.js';
import { kernelsOf } from '../bricks/recipe.js';
import { prepareModel } from '../bricks/prepare-model.js';
import { type Observations, observationsOf, spreadBetweenOccasions } from '../estimate/brick-latency.js';
import { knownResults, wantedOnAnyOccasion } from '../measure/plan.js';
import { type Recipe, readRecipe, signaturesOf } from '../bricks/recipe.js';
import { reportOf } from '../report/report.js';
import { readResults } from '../exchange/results-file.js';
import { chromeTrace } from '../traces/chrome-trace.js';
import { timedEstimate } from '../traces/timed-estimate.js';
import { addTraceOptions, composeFromTraces, isAboutTraces, type TraceOptions } from './compose-traces.js';
import { prepareOutputs, writeReport } from './exports.js';
import { loadModels } from './load-models.js';
import { addReportingOptions, cutOf, DEFAULTS, protocolOf, refuseCutOptions, runOptionsOf } from './options.js';

interface ComposeOptions extends TraceOptions {
  readonly recipe?: string;
  readonly results?: string;
}

/** Measurements to compose from, all of one system. */
interface Source {
  readonly system: System;
  readonly measurements: Observations;
  readonly protocol: Protocol;
}

async function recipeOf(
  references: readonly string[],
  options: ComposeOptions,
  agent: BenchmarkAgent,
  host: CommandHost,
): Promise<Recipe> {
  if (options.recipe !== undefined) return readRecipe(options.recipe);
  const settings = cutOf(options);
  const { cut, granularity } = settings;
  const models = [];
  for (const model of await loadModels(references, options, host)) {
    models.push((await prepareModel(model, settings, agent, host.signal)).recipe);
  }
  return { format: 'dlbricks-recipe/1', cut, granularity, batch: options.batch ?? DEFAULTS.batch, models };
}

/** The system whose measurements are meant: the one whose fingerprint begins as asked, else this machine. */
async function systemOf(store: ResultStore, options: ComposeOptions, agent: BenchmarkAgent): Promise<System> {
  if (options.system === undefined) return agent.system(runOptionsOf(options.threads ?? DEFAULTS.threads));
  const systems = await store.listSystems();
  const prefix = options.system.toLowerCase();
  const fitting = systems.filter(({ fingerprint }) => fingerprint.startsWith(prefix));
  const [system] = fitting;
  if (system !== undefined && fitting.length === 1) return system;
  const asked = `--system ${options.system}: `;
  if (systems.length === 0) throw new PlatformError('not_found', `${asked}the store has no measurements at all`);
  const known = systems.map(({ fingerprint, processor, runOptions, framework, frameworkVersion }) => {
    return `  ${fingerprint.slice(0, 12)}  ${processor}, threads: ${runOptions.threads}, ${framework} ${frameworkVersion}`;
  });
  const problem = `${fitting.length === 0 ? 'none' : 'more than one'} of the store's systems begins like this; it has:`;
  throw new PlatformError('not_found', [asked + problem, ...known].join('\n'));
}

/** The system of the evaluation, where kernels were measured with the optimizer off. */
function evaluationSystem(system: System, { cut }: Recipe): System {
  if (cut === 'layer') return system;
  return withFingerprint({ ...system, runOptions: runOptionsOf(system.runOptions.threads) });
}

async function sourceOf(
  recipe: Recipe,
  options: ComposeOptions,
  agent: BenchmarkAgent,
  host: CommandHost,
): Promise<Source> {
  if (options.results !== undefined) {
    const measurements = await readResults(options.results);
    const [first] = measurements.toSorted((a, b) => b.protocol.runs - a.protocol.runs);
    if (first === undefined) throw new PlatformError('usage', `${options.results}: holds no measurements`);
    return {
      system: evaluationSystem(first.system, recipe),
      // Graphs of copies are run less often than the protocol says.
      protocol: first.protocol,
      measurements: observationsOf(measurements),
    };
  }
  const store = await host.openStore(options.store);
  const system = evaluationSystem(await systemOf(store, options, agent), recipe);
  const protocol = protocolOf(options);
  const wanted = recipe.models.flatMap((model) => wantedOnAnyOccasion(model, protocol));
  const results = await knownResults(wanted, system, store);
  return { system, protocol, measurements: results.observations() };
}

/** Measurements count only where they were taken in the way that is asked for, which nobody can see in a table. */
function lookedFor({ runs, warmupRuns, minRuns, timeBudgetMs }: Protocol): string {
  const protocol = `${warmupRuns} warm-up runs, ${runs} runs (${minRuns} at least) in ${timeBudgetMs} ms`;
  return `note: only measurements of this system with ${protocol} count here; 'dlbricks run' or 'dlbricks validate' with the same options takes those that are missing`;
}

/** `dlbricks compose MODEL...`, `dlbricks compose --recipe FILE` */
export function registerCompose(parent: Command, host: CommandHost): void {
  const command = parent
    .command('compose')
    .description('Compose estimates from measurements that are there; measures nothing')
    .argument('[model...]', 'model manifest (.yml), .onnx file or zoo:NAME')
    .option('--recipe <file>', "recipe that 'generate' wrote, instead of models")
    .option('--results <file>', "results that 'run --suite' wrote, instead of the store")
    .option(
      '--system <system>',
      'system whose measurements are meant, by the first digits (default: this machine); of traces, its name',
    );
  addReportingOptions(addTraceOptions(command))
    .addHelpText(
      'after',
      `
Examples:
  mlmodelscope dlbricks compose zoo:resnet50
  mlmodelscope dlbricks compose --recipe out/recipe.json --results results.json
  mlmodelscope dlbricks compose --from-traces layers.csv --system "my server"
  mlmodelscope dlbricks compose zoo:resnet50 --from-store --fill model

Traces: a model may be trace:NAME, one that is in the traces themselves; without
any, all of those are estimated. docs/traces.md has more.`,
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
      const agent = await host.connect(options.server, options.framework);
      const outputs = await prepareOutputs(options);
      const recipe = await recipeOf(references, options, agent, host);
      const { system, measurements, protocol } = await sourceOf(recipe, options, agent, host);
      const signatures = new Set(recipe.models.flatMap(signaturesOf));
      const bricks = new Set(recipe.models.flatMap((model) => model.bricks.map(({ signature }) => signature)));
      const spread = spreadBetweenOccasions(recipe.models, measurements);
      const models = recipe.models.map((model) => ({
        estimate: compose(model, measurements, spread),
        endToEnd: undefined,
        kernels: recipe.cut === 'kernel' ? kernelsOf(model) : undefined,
      }));
      const report = reportOf(
        {
          system,
          models,
          spread,
          bricks: [...signatures].flatMap((signature) => measurements.get(signature) ?? []),
          sequences: recipe.models.reduce((sum, { sequences }) => sum + sequences.length, 0),
          uniqueBricks: bricks.size,
          measured: 0,
          interrupted: false,
        },
        { cut: recipe.cut, granularity: recipe.granularity, batch: recipe.batch, protocol },
      );
      await writeReport(report, outputs, host, () =>
        chromeTrace(models.map((result) => timedEstimate(result, system))),
      );
      if (report.models.some(({ coverage }) => coverage < 1)) {
        if (!outputs.quiet && options.results === undefined) host.warn(lookedFor(protocol));
        host.setExitCode(EXIT_PARTIAL);
      }
    });
}
