import { type BenchmarkAgent, type CommandHost, isManifestPath, kindOfManifest } from '../../../src/plugin-api.js';
import type { CellAxes } from '../cells.js';
import { readManifestEstimations } from './manifest-estimations.js';
import { loadModelEstimations } from './model-estimations.js';
import type { SweepMeasuringOptions } from './options.js';
import type { Estimation } from '../estimation.js';

/** All models together are one evaluation. @throws PlatformError as readManifestEstimations, loadModelEstimations */
export async function readEstimations(
  references: readonly string[],
  options: SweepMeasuringOptions,
  agent: BenchmarkAgent,
  host: CommandHost,
  usualAxes: CellAxes = {},
): Promise<readonly Estimation[]> {
  // Or manifests with mistakes, which their reader tells.
  const areEvaluations = await Promise.all(
    references.map(async (path) => isManifestPath(path) && (await kindOfManifest(path)) !== 'model'),
  );
  const models = references.filter((_, index) => areEvaluations[index] !== true);
  const canBeNone = models.length < references.length;
  const estimations: Estimation[] = [];
  for (const [index, reference] of references.entries()) {
    if (areEvaluations[index] === true) {
      estimations.push(...(await readManifestEstimations(reference, options, agent, host, usualAxes)));
    } else if (index === areEvaluations.indexOf(false)) {
      const { cut = usualAxes.cut, granularity = usualAxes.granularity } = options;
      const how = { measureEndToEnd: false, canBeNone };
      estimations.push(...(await loadModelEstimations(models, { ...options, cut, granularity }, agent, host, how)));
    }
  }
  return estimations;
}
