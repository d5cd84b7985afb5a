import type { Command } from 'commander';
import {
  type CommandHost,
  EXIT_INTERRUPTED,
  EXIT_PARTIAL,
  loadEvaluation,
  type LoadedModel,
  PlatformError,
  type Protocol,
  type System,
} from '../../../src/plugin-api.js';
import { evaluate } from '../evaluate.js';
import { measureSuite } from '../measure-suite.js';
import { reportOf } from '../report/report.js';
import { resultsText } from '../results-file.js';
import { readSuite } from '../suite.js';
import { prepareOutputs, writeOutputs, writeWhole } from './exports.js';
import {
  addExportOptions,
  addMeasuringOptions,
  addServerOption,
  addStoreOption,
  checkCut,
  DEFAULTS,
  type MeasuringOptions,
  type PlaceOptions,
  protocolOf,
  runOptionsOf,
} from './options.js';
import { showProgress } from './show-progress.js';

/** An evaluation with every setting decided. */
export interface EvaluationSettings {
  readonly models: readonly LoadedModel[];
  readonly granularity: number;
  readonly batch: number;
  readonly threads: number;
  readonly protocol: Protocol;
  readonly measureEndToEnd: boolean;
  /** What the manifest asks of the system and it does not have. */
  readonly unmet?: (system: System) => readonly string[];
}

/** Measures what is missing, composes, reports; the part that `run` and `validate` share. */
export async function runEvaluation(
  settings: EvaluationSettings,
  options: PlaceOptions,
  host: CommandHost,
): Promise<void> {
  const { models, granularity, batch, threads, protocol, measureEndToEnd } = settings;
  const outputs = await prepareOutputs(options);
  const store = await host.openStore(options.store);
  const agent = await host.connect(options.server);
  const unmet = settings.unmet?.(await agent.system(runOptionsOf(threads))) ?? [];
  if (unmet.length > 0) throw new PlatformError('unavailable', `no agent fits the evaluation:\n${unmet.join('\n')}`);
  const progress = host.progress(outputs.quiet);
  try {
    const request = { models, granularity, runOptions: runOptionsOf(threads), protocol, measureEndToEnd };
    const context = { agent, store, signal: host.signal, onEvent: showProgress(progress) };
    const result = await evaluate(request, context);
    progress.stop();
    if (threads > result.system.cores) {
      host.warn(
        `warning: ${threads} threads on ${result.system.cores} cores: latencies will vary more; ask for fewer with --threads`,
      );
    }
    const report = reportOf(result, { granularity, batch, protocol });
    await writeOutputs(report, outputs, host);
    if (result.interrupted) {
      host.warn('interrupted; everything measured so far is kept, and the same command continues from here');
      host.setExitCode(EXIT_INTERRUPTED);
    } else if (report.models.some(({ missing }) => missing.length > 0)) host.setExitCode(EXIT_PARTIAL);
  } finally {
    progress.stop();
  }
}

interface RunOptions extends MeasuringOptions, PlaceOptions {
  readonly suite?: string;
}

async function runManifest(path: string, options: RunOptions, host: CommandHost): Promise<void> {
  const progress = host.progress(options.quiet ?? false);
  const { manifest, protocol, models, notes, unmet } = await loadEvaluation(path, {
    ...(options.batch === undefined ? {} : { batch: options.batch }),
    dimensions: options.dimension,
    signal: host.signal,
    onModel: (name, done, total) => progress.step('loading', done, total, name),
  }).finally(() => progress.stop());
  for (const note of notes) host.warn(`note: ${note}`);
  if (manifest.plugin !== 'dlbricks') {
    throw new PlatformError('manifest', `${path}: plugin: expected dlbricks, found ${manifest.plugin}`);
  }
  checkCut(options.cut ?? manifest.cut);
  const settings: EvaluationSettings = {
    models,
    granularity: options.granularity ?? manifest.granularity,
    batch: options.batch ?? manifest.batch_size,
    threads: options.threads ?? manifest.threads,
    protocol: protocolOf(options, protocol),
    measureEndToEnd: manifest.measure_end_to_end,
    unmet,
  };
  await runEvaluation(settings, options, host);
}

/** Measures a suite that somebody gave; there is nothing to compose here, so the measurements are the result. */
async function runSuite(folder: string, options: RunOptions, host: CommandHost): Promise<void> {
  if (options.exportCsv !== undefined || options.exportMarkdown !== undefined) {
    throw new PlatformError('usage', '--suite has results for --export-json only; compose makes tables of them');
  }
  const { exports } = await prepareOutputs(options);
  const suite = await readSuite(folder);
  const store = await host.openStore(options.store);
  const agent = await host.connect(options.server);
  const progress = host.progress(options.quiet ?? false);
  const context = { agent, store, signal: host.signal, onEvent: showProgress(progress) };
  const runOptions = runOptionsOf(options.threads ?? DEFAULTS.threads);
  const result = await measureSuite(suite, runOptions, protocolOf(options), context).finally(() => progress.stop());
  for (const { path } of exports) {
    const text = resultsText(result.measurements);
    if (path === '-') host.print(text);
    else await writeWhole(path, text);
  }
  const failed = result.measurements.filter(({ outcome }) => outcome.kind === 'failure').length;
  const succeeded = result.measurements.length - failed;
  host.warn(`${succeeded} of ${suite.bricks.length} bricks measured, ${failed} failed, ${result.measured} of them now`);
  if (result.interrupted) host.setExitCode(EXIT_INTERRUPTED);
  else if (failed > 0) host.setExitCode(EXIT_PARTIAL);
}

/** `dlbricks run EVALUATION.yml`, `dlbricks run --suite DIR` */
export function registerRun(parent: Command, host: CommandHost): void {
  const command = parent
    .command('run')
    .description('Measure what the store does not know yet, compose, report')
    .argument('[evaluation]', 'evaluation manifest (.yml)')
    .option('--suite <folder>', "measure a suite that 'generate' made instead; its results go to --export-json");
  addExportOptions(addServerOption(addStoreOption(addMeasuringOptions(command))))
    .addHelpText(
      'after',
      `
Options win over the manifest. A second run measures nothing that is in the store; an interrupted one continues.

Examples:
  mlmodelscope dlbricks run manifests/evaluations/quickstart.yml --export-json out/quickstart.json
  mlmodelscope dlbricks run --suite received/suite --export-json results.json`,
    )
    .action(async (path: string | undefined, options: RunOptions) => {
      if ((path === undefined) === (options.suite === undefined)) {
        throw new PlatformError(
          'usage',
          'expected either an evaluation manifest or --suite FOLDER; see --help for examples',
        );
      }
      if (options.suite !== undefined) await runSuite(options.suite, options, host);
      else if (path !== undefined) await runManifest(path, options, host);
    });
}
