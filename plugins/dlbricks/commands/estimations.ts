import { type BenchmarkAgent, type CommandHost, isManifestPath, kindOfManifest } from '../../../src/plugin-api.js';
import type { CellAxes } from '../cells.js';
import { readManifestEstimations } from './manifest-estimations.js';
import { loadModelEstimations } from './model-estimations.js';
import type { SweepMeasuringOptions } from './options.js';
import type { Estimation } from '../estimation.js';

/** Whether a reference is to be read as an evaluation: a manifest of that kind, or one with mistakes. */
async function isEvaluation(reference: string): Promise<boolean> {
  return isManifestPath(reference) && (await kindOfManifest(reference)) !== 'model';
}

/**
 * The estimations of evaluations and models, in the order of the command line; all models together are one evaluation.
 *
 * @throws PlatformError as readManifestEstimations and loadModelEstimations
 */
export async function readEstimations(
  references: readonly string[],
  options: SweepMeasuringOptions,
  agent: BenchmarkAgent,
  host: CommandHost,
  usualAxes: CellAxes = {},
): Promise<readonly Estimation[]> {
  const areEvaluations = await Promise.all(references.map(isEvaluation));
  const models = references.filter((_, index) => areEvaluations[index] !== true);
  const canBeNone = models.length < references.length;
  const estimations: Estimation[] = [];
  for (const [index, reference] of references.entries()) {
    if (areEvaluations[index] === true) {
      estimations.push(...(await readManifestEstimations(reference, options, agent, host, usualAxes)));
    } else if (index === areEvaluations.indexOf(false)) {
      const axes = {
        ...options,
        cut: options.cut ?? usualAxes.cut,
        granularity: options.granularity ?? usualAxes.granularity,
      };
      const how = { measureEndToEnd: false, canBeNone };
      estimations.push(...(await loadModelEstimations(models, axes, agent, host, how)));
    }
  }
  return estimations;
}
