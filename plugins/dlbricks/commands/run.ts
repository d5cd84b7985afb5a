import type { Command } from 'commander';
import {
  checkDimensions,
  checkInputNames,
  type CommandHost,
  type EvaluationEvent,
  EXIT_INTERRUPTED,
  EXIT_PARTIAL,
  isManifestPath,
  kindOfManifest,
  loadEvaluation,
  PlatformError,
  showEvent,
  type UnusableModel,
} from '../../../src/plugin-api.js';
import { runOptionsOf } from '../estimation.js';
import { differencesBetween, optimizedForOf } from '../exchange/optimized-for.js';
import { resultsText } from '../exchange/results-file.js';
import { readSuite } from '../exchange/suite.js';
import { measureSuite } from '../measure/measure-suite.js';
import { settingsSchema } from '../settings.js';
import { prepareOutputs, writeExports } from './exports.js';
import {
  addPrecisionOptions,
  addReportingOptions,
  addReuseOptions,
  measureSettingsOf,
  type MeasuringOptions,
  type PlaceOptions,
  type PrecisionOptions,
  askedProtocol,
  type ReuseOptions,
  refuseCutOptions,
  settingsOf,
} from './options.js';
import { INTERRUPTED, runAndReport } from './run-and-report.js';
import { runModels } from './run-models.js';

interface RunCommandOptions extends MeasuringOptions, PrecisionOptions, ReuseOptions, PlaceOptions {
  readonly suite?: string;
}

async function runManifest(path: string, options: RunCommandOptions, host: CommandHost): Promise<void> {
  const agent = await host.connect(options.server, options.framework);
  const progress = host.progress(options.quiet ?? false);
  const unusable: UnusableModel[] = [];
  const loaded = await loadEvaluation(path, {
    ...(options.batch === undefined ? {} : { batch: options.batch }),
    dimensions: options.dimension,
    inputs: options.input,
    signal: host.signal,
    check: ({ plugin }) => {
      if (plugin !== 'dlbricks') {
        throw new PlatformError(
          'manifest',
          `${path}: plugin: expected dlbricks, found ${plugin}; 'mlmodelscope evaluate ${path}' runs it`,
        );
      }
    },
    onModel: (name, done, total) => progress.step('loading', done, total, name),
    onUnusable: (model) => {
      progress.warn(`warning: ${model.name}: ${model.reason}`);
      unusable.push(model);
    },
  }).finally(() => progress.stop());
  const { manifest, models, notes, protocol, limits, unmet } = loaded;
  for (const note of notes) progress.note(`note: ${note}`);
  // Dimensions of a model that was not read are not known.
  if (unusable.length === 0) {
    checkDimensions(models, options.dimension);
    checkInputNames(
      models.map(({ model }) => model),
      options.input,
    );
  }
  const threads = options.threads ?? manifest.threads;
  const problems = unmet(await agent.system(runOptionsOf(threads)));
  if (problems.length > 0) {
    throw new PlatformError('unavailable', ['the agent does not fit the evaluation:', ...problems].join('\n  '));
  }
  const estimation = {
    models,
    unusable,
    settings: settingsOf(options, loaded.settingsOf(settingsSchema)),
    threads,
    batch: options.batch ?? manifest.batch_size,
    protocol: askedProtocol(options, protocol),
    limits,
    remeasure: options.remeasure,
  };
  await runAndReport(estimation, agent, options, host);
}

async function runSuite(folder: string, options: RunCommandOptions, host: CommandHost): Promise<void> {
  if ([options.exportCsv, options.exportMarkdown, options.traceOut].some((path) => path !== undefined)) {
    throw new PlatformError('usage', '--suite has results for --export-json only; compose makes tables of them');
  }
  refuseCutOptions(options, '--suite');
  const agent = await host.connect(options.server, options.framework);
  const suite = await readSuite(folder);
  const { exports, quiet } = await prepareOutputs(options);
  const settings = measureSettingsOf(options);
  const here = optimizedForOf(await agent.system(settings.runOptions));
  const differences = suite.optimizedFor === undefined ? [] : differencesBetween(suite.optimizedFor, here);
  for (const difference of differences) host.warn(`warning: ${difference}`);
  const store = await host.openStore(options.store);
  const progress = host.progress(quiet);
  const context = {
    agent,
    store,
    signal: host.signal,
    onEvent: (event: EvaluationEvent) => showEvent(event, progress),
  };
  const result = await measureSuite(suite, settings, context, options.remeasure).finally(() => progress.stop());
  await writeExports(() => resultsText(result.measurements), exports, host);
  const { length: found } = result.measurements;
  const failed = result.measurements.filter(({ outcome }) => outcome.kind === 'failure').length;
  progress.note(`${found} measurements of the suite's bricks, ${result.measured} of them taken now; ${failed} failed`);
  if (exports.length === 0)
    progress.note('the results are in the store; --export-json FILE writes them for their owner');
  if (result.interrupted) {
    host.warn(INTERRUPTED);
    host.setExitCode(EXIT_INTERRUPTED);
  } else if (failed > 0) host.setExitCode(EXIT_PARTIAL);
}

/** Whether a reference is to be read as an evaluation: a manifest of that kind, or one with mistakes. */
async function isEvaluation(reference: string): Promise<boolean> {
  return isManifestPath(reference) && (await kindOfManifest(reference)) !== 'model';
}

/** `dlbricks run EVALUATION.yml`, `dlbricks run MODEL...`, `dlbricks run --suite DIR` */
export function registerRun(parent: Command, host: CommandHost): void {
  const command = parent
    .command('run')
    .description('Measure the bricks that the store lacks, compose and report')
    .argument('[what...]', 'evaluation manifest (.yml), or models: manifest (.yml), .onnx file or zoo:NAME')
    .option('--suite <folder>', "measure a suite that 'generate' made instead; its results go to --export-json");
  addReuseOptions(addPrecisionOptions(addReportingOptions(command)))
    .addHelpText(
      'after',
      `
Options override the manifest. A second run measures only what the store does
not hold yet, so an interrupted run continues. It also takes measurements again
that other processes disturbed, as long as the machine is quiet now. A fresh
result replaces the stored one, unless it is a failure; nothing else is lost.

Examples:
  mlmodelscope dlbricks run manifests/evaluations/quickstart.yml
  mlmodelscope dlbricks run zoo:resnet18 zoo:resnet34 my-model.onnx
  mlmodelscope dlbricks run evaluation.yml --export-json out/report.json
  mlmodelscope dlbricks run evaluation.yml --remeasure older-than:30d
  mlmodelscope dlbricks run --suite received/suite --export-json results.json`,
    )
    .action(async (references: string[], options: RunCommandOptions) => {
      if ((references.length === 0) === (options.suite === undefined)) {
        throw new PlatformError(
          'usage',
          'expected either an evaluation manifest, models or --suite FOLDER; see --help for examples',
        );
      }
      const [first = ''] = references;
      if (options.suite !== undefined) await runSuite(options.suite, options, host);
      else if (references.length === 1 && (await isEvaluation(first))) await runManifest(first, options, host);
      else await runModels(references, options, host, { measureEndToEnd: false });
    });
}
