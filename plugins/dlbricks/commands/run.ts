import type { Command } from 'commander';
import {
  counted,
  COMMAND_DEFAULTS,
  type CommandHost,
  PlatformError,
  requireFitMachine,
  prepareOutputs,
  buildProvenance,
  remeasureAsked,
  writeExports,
  measuringContext,
  setMeasuringExit,
  maxOf,
} from '../../../src/plugin-api.js';
import { readEstimations } from './estimations.js';
import {
  addMeasureOption,
  addRunOptions,
  addSweepReportingOptions,
  type SweepMeasuringOptions,
  optionOf,
  parseMeasureSettings,
  refuseCutOptions,
} from './options.js';
import { runAndReport } from './run-and-report.js';
import { resultsText } from '../exchange/results-file.js';
import { readSuite, differencesBetween, describeOptimizedFor } from '../exchange/suite.js';
import { measureSuite } from '../measure/measure-suite.js';

const OF_MODELS = ['measure', 'targetError', 'repeatLimit', 'check', 'best', 'within'] as const;

async function runSuite(folder: string, options: SweepMeasuringOptions, host: CommandHost): Promise<void> {
  const { exportCsv, exportMarkdown, exportHtml, traceOut, exportSvg, exportDot } = options;
  if ((exportCsv ?? exportMarkdown ?? exportHtml ?? traceOut ?? exportSvg ?? exportDot) !== undefined) {
    throw new PlatformError('usage', '--suite has results for --export-json only; compose makes tables of them');
  }
  const ofModels = OF_MODELS.find((key) => options[key] !== undefined);
  if (ofModels !== undefined) {
    const problem = `${optionOf(ofModels)} is for models; --suite measures all bricks, without estimates`;
    throw new PlatformError('usage', problem);
  }
  refuseCutOptions(options, '--suite');
  const { threads: [threads, ...moreThreads] = [] } = options;
  if (moreThreads.length > 0) throw new PlatformError('usage', '--suite takes one number of --threads at a time');
  const agent = await host.connect(options.agent, options.framework);
  const suite = await readSuite(folder);
  const { exports, quiet } = await prepareOutputs(options);
  const settings = parseMeasureSettings({ ...options, threads }, agent.description);
  const here = describeOptimizedFor(agent.description);
  const differences = suite.optimizedFor === undefined ? [] : differencesBetween(suite.optimizedFor, here);
  for (const difference of differences) host.warn(`warning: ${difference}`);
  const store = await host.openStore(options.store);
  const progress = host.progress(quiet);
  const context = measuringContext({ agent, store }, progress, host);
  const remeasure = remeasureAsked(options.remeasure);
  const result = await measureSuite(suite, settings, context, remeasure).finally(() => progress.stop());
  const reasons = { protocol: 'measurements', stack: 'system of the measurements' };
  const provenance = buildProvenance({ agent, reasons });
  await writeExports(() => resultsText(result.measurements, provenance), exports, host);
  const { length: found } = result.measurements;
  const failed = result.measurements.filter(({ outcome }) => outcome.kind === 'failure').length;
  progress.note(
    `${counted(found, 'measurement')} of the suite's bricks, ${result.measured} of them taken now; ${failed} failed`,
  );
  if (exports.length === 0)
    progress.note('the results are in the store; --export-json FILE writes them for their owner');
  setMeasuringExit(host, { isInterrupted: result.interrupted, isPartial: failed > 0, remeasure });
}

interface RunCommandOptions extends SweepMeasuringOptions {
  readonly suite?: string;
  readonly strict?: boolean;
}

export function registerRun(parent: Command, host: CommandHost): void {
  const command = parent
    .command('run')
    .description('Measure the bricks that the store lacks, compose and report')
    .argument('[what...]', 'evaluation manifests and models: manifest (.yml), .onnx file or zoo:NAME')
    .option(
      '--check',
      "run each model's optimized graph once whole with the runtime's profile, and name the kernels that differ from their bricks",
    )
    .option('--strict', "look at this machine first ('mlmodelscope doctor'), and measure nothing where it warns")
    .option('--suite <folder>', "measure a suite that 'generate' made instead; its results go to --export-json");
  addRunOptions(addMeasureOption(addSweepReportingOptions(command)))
    .addHelpText(
      'after',
      `
Options override the manifest. A second run measures only what the store does
not hold yet, so an interrupted run continues. While the machine is quiet, it
also repeats measurements that other processes disturbed. A new result replaces
the stored one, unless it is a failure. All other stored results stay.

Examples:
  mlmodelscope dlbricks run manifests/evaluations/quickstart.yml
  mlmodelscope dlbricks run zoo:resnet18 zoo:resnet34 my-model.onnx
  mlmodelscope dlbricks run zoo:resnet18 --batch 1,2,4 --threads 1,2
  mlmodelscope dlbricks run my-variant.onnx --measure none
  mlmodelscope dlbricks run evaluation.yml my-model.onnx
  mlmodelscope dlbricks run my-detector.onnx --values-of-run --check
  mlmodelscope dlbricks run evaluation.yml --export-json out/report.json
  mlmodelscope dlbricks run evaluation.yml --remeasure older-than:30d
  mlmodelscope dlbricks run --suite received/suite --export-json results.json`,
    )
    .action(async (references: string[], options: RunCommandOptions) => {
      if (references.length === 0 && options.suite === undefined) {
        throw new PlatformError('usage', 'Name a model (zoo:resnet18, my.onnx), a manifest, or --suite FOLDER.');
      }
      if (references.length > 0 && options.suite !== undefined) {
        const problem = `--suite measures the bricks of a suite, and no models; leave out --suite or ${references.join(' ')}`;
        throw new PlatformError('usage', problem);
      }
      if (options.strict === true && options.agent !== undefined) {
        throw new PlatformError('usage', '--strict looks at this machine; use it where the agent is, without --agent');
      }
      const { suite, threads: asked = [COMMAND_DEFAULTS.threads] } = options;
      if (suite !== undefined) {
        const problem = '--log is for models and evaluations; a suite says nothing about its models';
        if (options.log !== undefined) throw new PlatformError('usage', problem);
        if (options.strict === true) await requireFitMachine(maxOf(asked));
        await runSuite(suite, options, host);
        return;
      }
      const agent = await host.connect(options.agent, options.framework);
      const estimations = await readEstimations(references, options, agent, host);
      if (options.strict === true)
        await requireFitMachine(maxOf(estimations.map(({ runOptions }) => runOptions.threads)));
      await runAndReport(estimations, agent, options, host);
    });
}
