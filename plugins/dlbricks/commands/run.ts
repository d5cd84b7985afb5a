import type { Command } from 'commander';
import {
  addReuseOptions,
  askedProtocol,
  checkInputs,
  type CommandHost,
  type EvaluationEvent,
  EXIT_INTERRUPTED,
  EXIT_PARTIAL,
  isManifestPath,
  kindOfManifest,
  loadEvaluation,
  PlatformError,
  prepareOutputs,
  runOptionsOf,
  showEvent,
  writeExports,
} from '../../../src/plugin-api.js';
import type { Estimation } from '../estimation.js';
import { differencesBetween, optimizedForOf } from '../exchange/optimized-for.js';
import { resultsText } from '../exchange/results-file.js';
import { readSuite } from '../exchange/suite.js';
import { measureSuite } from '../measure/measure-suite.js';
import { settingsSchema } from '../settings.js';
import {
  addPrecisionOptions,
  addSweepReportingOptions,
  measureSettingsOf,
  refuseCutOptions,
  settingsOf,
} from './options.js';
import { INTERRUPTED, runAndReport } from './run-and-report.js';
import { type RunOptions, runModels } from './run-models.js';

interface RunCommandOptions extends RunOptions {
  readonly suite?: string;
}

/** An evaluation manifest, read for one size of the batch: by default its own. */
async function readManifest(path: string, batch: number | undefined, options: RunCommandOptions, host: CommandHost) {
  const progress = host.progress(options.quiet ?? false);
  const loaded = await loadEvaluation(path, {
    ...(batch === undefined ? {} : { batch }),
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
    onUnusable: ({ name, reason }) => progress.warn(`warning: ${name}: ${reason}`),
  }).finally(() => progress.stop());
  // Dimensions of a model that was not read are not known.
  if (loaded.unusable.length === 0) checkInputs(loaded.models, options);
  return { ...loaded, batch: batch ?? loaded.manifest.batch_size };
}

async function runManifest(path: string, options: RunCommandOptions, host: CommandHost): Promise<void> {
  const agent = await host.connect(options.agent, options.framework);
  const notes = new Set<string>();
  const estimations: Omit<Estimation, 'startMs'>[] = [];
  for (const wanted of options.batch ?? [undefined]) {
    const loaded = await readManifest(path, wanted, options, host);
    for (const note of loaded.notes) notes.add(note);
    const { models, unusable, batch, limits } = loaded;
    for (const threads of options.threads ?? [loaded.manifest.threads]) {
      const problems = loaded.unmet(await agent.system(runOptionsOf(threads)));
      if (problems.length > 0) {
        throw new PlatformError('unavailable', ['the agent does not fit the evaluation:', ...problems].join('\n  '));
      }
      const settings = settingsOf(options, loaded.settingsOf(settingsSchema));
      const protocol = askedProtocol(options, loaded.protocol);
      const { remeasure } = options;
      estimations.push({ models, unusable, settings, threads, batch, protocol, limits, remeasure });
    }
  }
  if (options.quiet !== true) for (const note of notes) host.warn(`note: ${note}`);
  await runAndReport(estimations, agent, options, host);
}

async function runSuite(folder: string, options: RunCommandOptions, host: CommandHost): Promise<void> {
  if ([options.exportCsv, options.exportMarkdown, options.traceOut].some((path) => path !== undefined)) {
    throw new PlatformError('usage', '--suite has results for --export-json only; compose makes tables of them');
  }
  refuseCutOptions(options, '--suite');
  const { threads: [threads, ...moreThreads] = [] } = options;
  if (moreThreads.length > 0) throw new PlatformError('usage', '--suite takes one number of --threads at a time');
  const agent = await host.connect(options.agent, options.framework);
  const suite = await readSuite(folder);
  const { exports, quiet } = await prepareOutputs(options);
  const settings = measureSettingsOf({ ...options, threads });
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
  addReuseOptions(addPrecisionOptions(addSweepReportingOptions(command)))
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
  mlmodelscope dlbricks run zoo:resnet18 --batch 1,2,4 --threads 1,2
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
