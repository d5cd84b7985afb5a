import type { Command } from 'commander';
import {
  addReuseOptions,
  type BenchmarkAgent,
  type CommandHost,
  isManifestPath,
  kindOfManifest,
  PlatformError,
} from '../../../src/plugin-api.js';
import { estimationsOfManifest } from './manifest-estimations.js';
import { estimationsOfModels } from './model-estimations.js';
import { addPrecisionOptions, addSweepReportingOptions, type RunOptions } from './options.js';
import { type PlannedEstimation, runAndReport } from './run-and-report.js';
import { runSuite } from './run-suite.js';

interface RunCommandOptions extends RunOptions {
  readonly suite?: string;
}

/** Whether a reference is to be read as an evaluation: a manifest of that kind, or one with mistakes. */
async function isEvaluation(reference: string): Promise<boolean> {
  return isManifestPath(reference) && (await kindOfManifest(reference)) !== 'model';
}

/** The estimations of evaluations and models, in the order of the command line; the models are one evaluation together. */
async function estimationsOf(
  references: readonly string[],
  options: RunOptions,
  agent: BenchmarkAgent,
  host: CommandHost,
): Promise<readonly PlannedEstimation[]> {
  const areEvaluations = await Promise.all(references.map(isEvaluation));
  const models = references.filter((_, index) => areEvaluations[index] !== true);
  const canBeNone = models.length < references.length;
  const estimations: PlannedEstimation[] = [];
  for (const [index, reference] of references.entries()) {
    if (areEvaluations[index] === true) {
      estimations.push(...(await estimationsOfManifest(reference, options, agent, host)));
    } else if (index === areEvaluations.indexOf(false)) {
      estimations.push(...(await estimationsOfModels(models, options, host, { measureEndToEnd: false, canBeNone })));
    }
  }
  return estimations;
}

/** `dlbricks run WHAT...`, `dlbricks run --suite DIR` */
export function registerRun(parent: Command, host: CommandHost): void {
  const command = parent
    .command('run')
    .description('Measure the bricks that the store lacks, compose and report')
    .argument('[what...]', 'evaluation manifests and models: manifest (.yml), .onnx file or zoo:NAME')
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
  mlmodelscope dlbricks run evaluation.yml my-model.onnx
  mlmodelscope dlbricks run evaluation.yml --export-json out/report.json
  mlmodelscope dlbricks run evaluation.yml --remeasure older-than:30d
  mlmodelscope dlbricks run --suite received/suite --export-json results.json`,
    )
    .action(async (references: string[], options: RunCommandOptions) => {
      if ((references.length === 0) === (options.suite === undefined)) {
        throw new PlatformError(
          'usage',
          'expected either evaluation manifests and models, or --suite FOLDER; see --help for examples',
        );
      }
      if (options.suite !== undefined) {
        await runSuite(options.suite, options, host);
        return;
      }
      const agent = await host.connect(options.agent, options.framework);
      await runAndReport(await estimationsOf(references, options, agent, host), agent, options, host);
    });
}
