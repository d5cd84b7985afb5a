import {
  askedProtocol,
  type BenchmarkAgent,
  type CommandHost,
  findRemedies,
  isManifestPath,
  kindOfManifest,
  loadEvaluation,
  PlatformError,
  COMMAND_DEFAULTS,
  DEFAULT_LIMITS,
  loadBatches,
  runsOn,
  append,
  maxOf,
} from '../../../src/plugin-api.js';
import { type CellAxes, listRequests, mergeAxes, listCells } from '../cells.js';
import { readEstimation, toEstimation } from '../estimation.js';
import { type Settings, settingsSchema } from '../settings.js';
import type { EstimateRequest } from '../system-run.js';
import { parseSettings, type SweepMeasuringOptions } from './options.js';

/** @throws PlatformError where no model can be used, unless `canBeNone`: where there are evaluations to estimate */
export async function loadModelEstimations(
  references: readonly string[],
  options: SweepMeasuringOptions,
  agent: BenchmarkAgent,
  host: CommandHost,
  forced: Partial<Settings> = {},
  canBeNone = false,
): Promise<readonly EstimateRequest[]> {
  const loaded = await loadBatches(
    {
      references,
      batches: options.batch ?? [COMMAND_DEFAULTS.batch],
      inputs: options,
      quiet: options.quiet ?? false,
      canBeNone,
      runsOn: runsOn(agent, options),
      onUnusable: ({ name, reason }) => host.warn(`warning: ${name}: ${reason}`),
    },
    host,
  );
  const settings = { ...parseSettings(options), ...forced };
  const cells = listCells(options, { threads: COMMAND_DEFAULTS.threads, settings }, agent.description);
  const common = { protocol: askedProtocol(options), limits: DEFAULT_LIMITS };
  return loaded.flatMap((sized) => cells.map((cell) => toEstimation({ ...cell, ...sized, ...common }, agent)));
}

async function readManifest(path: string, options: SweepMeasuringOptions, host: CommandHost) {
  const progress = host.progress(options.quiet ?? false);
  const [batch] = options.batch ?? [];
  const dimensions = new Map([...(options.dimension ?? [])].map(([name, [first = 0]]) => [name, first]));
  const loaded = await loadEvaluation(path, {
    ...(batch === undefined ? {} : { batch }),
    dimensions,
    inputs: options.input,
    signal: host.signal,
    allowVersion: options.allowVersion,
    threads: options.threads && maxOf(options.threads),
    check: ({ plugin }) => {
      if (plugin === 'dlbricks') return;
      const problem = `${path}: plugin: expected dlbricks, found ${plugin}`;
      throw new PlatformError('manifest', `${problem}; 'mlmodelscope evaluate ${path}' runs it`);
    },
    onModel: (name, done, total) => progress.step('loading', done, total, name),
    onUnusable: ({ name, reason }) => progress.warn(`warning: ${name}: ${reason}`),
  }).finally(() => progress.stop());
  const { manifest } = loaded;
  return { ...loaded, manifest: { ...manifest, batch_size: batch ?? manifest.batch_size } };
}

interface Asked {
  /** Where neither the manifest's matrix nor the command line has them. */
  readonly usualAxes?: Pick<CellAxes, 'cut' | 'granularity'>;
  /** Settings that count whatever the manifest says. */
  readonly forced?: Partial<Settings>;
}

/**
 * @throws PlatformError `manifest` for mistakes or another plugin, `unavailable` where the agent does not fit, `model`
 *   where no model can be used with one of the sizes
 */
async function readManifestEstimations(
  path: string,
  options: SweepMeasuringOptions,
  agent: BenchmarkAgent,
  host: CommandHost,
  { usualAxes, forced }: Asked,
): Promise<readonly EstimateRequest[]> {
  const loaded = await readManifest(path, options, host);
  const unmet = loaded.unmet(agent.description);
  if (unmet.length > 0) {
    const heading = `the agent does not fit the evaluation ${path} (${findRemedies(unmet).join('; ')}):`;
    throw new PlatformError('unavailable', [heading, ...unmet.map(({ problem }) => problem)].join('\n  '));
  }
  const settings = { ...parseSettings(options, loaded.settingsOf(settingsSchema)), ...forced };
  const axes = mergeAxes(settings.matrix, options);
  const { cut = usualAxes?.cut, granularity = usualAxes?.granularity } = axes;
  const evaluation = { ...loaded, protocol: askedProtocol(options, loaded.protocol) };
  const requests = listRequests({ evaluation, settings }, { ...axes, cut, granularity }, agent.description);
  const told = new Set(loaded.unusable);
  for (const { evaluation: cell } of requests) {
    const reasons = cell.unusable.map(({ name, reason }) => `${name}: ${reason}`);
    if (cell.models.length === 0) throw new PlatformError('model', reasons.join('\n'));
    for (const model of cell.unusable) {
      if (!told.has(model)) host.warn(`warning: ${model.name}: ${model.reason}`);
      told.add(model);
    }
  }
  if (options.quiet !== true) for (const note of new Set(loaded.notes)) host.warn(`note: ${note}`);
  return requests.map((request) => readEstimation(request, agent));
}

/**
 * All models together are one evaluation. What is named again is not estimated again.
 *
 * @throws PlatformError as readManifestEstimations, loadModelEstimations
 */
export async function readEstimations(
  references: readonly string[],
  options: SweepMeasuringOptions,
  agent: BenchmarkAgent,
  host: CommandHost,
  asked: Asked = {},
): Promise<readonly EstimateRequest[]> {
  // Or manifests with mistakes, which their reader tells.
  const areEvaluations = await Promise.all(
    references.map(async (path) => isManifestPath(path) && (await kindOfManifest(path)) !== 'model'),
  );
  const models = references.filter((_, index) => areEvaluations[index] !== true);
  const canBeNone = models.length < references.length;
  const estimations: EstimateRequest[] = [];
  for (const [index, reference] of references.entries()) {
    if (areEvaluations[index] === true) {
      if (references.indexOf(reference) < index) continue;
      append(estimations, await readManifestEstimations(reference, options, agent, host, asked));
    } else if (index === areEvaluations.indexOf(false)) {
      const { cut = asked.usualAxes?.cut, granularity = asked.usualAxes?.granularity } = options;
      const axes = { ...options, cut, granularity };
      append(estimations, await loadModelEstimations(models, axes, agent, host, asked.forced, canBeNone));
    }
  }
  return estimations;
}
