import semver from 'semver';
import { PlatformError } from '../errors.js';
import type { Benchmark } from '../measurement/benchmark.js';
import { weightlessBenchmark } from '../measurement/weightless.js';
import { builtInModels } from './built-in-models.js';
import { loadModel } from './load-model.js';

/**
 * A model that comes with the platform, by the name and version of its manifest, as something an agent can open.
 *
 * @param version a version or a range as npm has it; '' takes any
 * @throws PlatformError `not_found` with the names and versions there are
 */
export async function resolveBenchmark(name: string, version: string): Promise<Benchmark> {
  const models = await builtInModels();
  const named = models.filter((model) => model.name === name);
  const fitting = named.find((model) => version === '' || semver.satisfies(model.version, version));
  if (fitting === undefined) {
    const known = (named.length > 0 ? named : models).map((model) => `${model.name} ${model.version}`);
    throw new PlatformError('not_found', `no model ${name} ${version}`.trimEnd() + `; there are ${known.join(', ')}`);
  }
  const { model } = await loadModel(fitting.manifest, { batch: 1 });
  return weightlessBenchmark(model);
}
