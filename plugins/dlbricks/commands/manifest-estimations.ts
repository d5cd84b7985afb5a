import {
  askedProtocol,
  type BenchmarkAgent,
  combine,
  type CommandHost,
  loadEvaluation,
  loadManifest,
  PlatformError,
  findRemedies,
  shippedManifest,
} from '../../../src/plugin-api.js';
import { axesOf, type CellAxes, listCells } from '../cells.js';
import { settingsSchema } from '../settings.js';
import { type SweepMeasuringOptions, parseSettings } from './options.js';
import type { Estimation } from '../estimation.js';

interface Sizes {
  readonly batch: number | undefined;
  readonly dimensions: ReadonlyMap<string, number>;
}

async function readManifest(
  path: string,
  { batch, dimensions }: Sizes,
  { index, of }: { readonly index: number; readonly of: number },
  options: SweepMeasuringOptions,
  host: CommandHost,
) {
  const progress = host.progress(options.quiet ?? false);
  const loaded = await loadEvaluation(path, {
    ...(batch === undefined ? {} : { batch }),
    dimensions,
    inputs: options.input,
    signal: host.signal,
    allowVersion: options.allowVersion,
    check: ({ plugin }) => {
      if (plugin !== 'dlbricks') {
        throw new PlatformError(
          'manifest',
          `${path}: plugin: expected dlbricks, found ${plugin}; 'mlmodelscope evaluate ${path}' runs it`,
        );
      }
    },
    onModel: (name, done, total) => progress.step('loading', index * total + done, of * total, name),
    onUnusable: ({ name, reason }) => progress.warn(`warning: ${name}: ${reason}`),
  }).finally(() => progress.stop());
  return { ...loaded, batch: batch ?? loaded.manifest.batch_size };
}

/** The sizes of the batch in its matrix. Problems of the manifest are told when its models are read. */
async function batchesOfManifest(path: string): Promise<readonly number[] | undefined> {
  const read = await loadManifest(shippedManifest(path), ['evaluation']);
  return read.ok ? settingsSchema.shape.matrix.safeParse(read.manifest.matrix).data?.batch_size : undefined;
}

/**
 * The estimations of an evaluation manifest: one for each combination of its matrix and of the lists on the command
 * line, by default its own.
 *
 * @param usualAxes of cuts and lengths, where neither the manifest's matrix nor the command line has them

 * @throws PlatformError `manifest` for one with mistakes or of another plugin, `unavailable` where the agent does not
 *   fit it, and where none of its models can be used
 */
export async function readManifestEstimations(
  path: string,
  options: SweepMeasuringOptions,
  agent: BenchmarkAgent,
  host: CommandHost,
  usualAxes: CellAxes = {},
): Promise<readonly Estimation[]> {
  const notes = new Set<string>();
  const estimations: Estimation[] = [];
  const batches = options.batch ?? (await batchesOfManifest(path)) ?? [undefined];
  const sizes = batches.flatMap((batch) => {
    return combine<number>(options.dimension).map((dimensions): Sizes => ({ batch, dimensions }));
  });
  for (const [index, size] of sizes.entries()) {
    const loaded = await readManifest(path, size, { index, of: sizes.length }, options, host);
    for (const note of loaded.notes) notes.add(note);
    const { manifest, identities, models, unusable, batch, limits } = loaded;
    const byDefault = {
      threads: manifest.threads,
      settings: parseSettings(options, loaded.settingsOf(settingsSchema)),
    };
    const axes = axesOf(byDefault.settings.matrix, options);
    const { cut = usualAxes.cut, granularity = usualAxes.granularity } = axes;
    for (const cell of listCells({ ...axes, cut, granularity }, byDefault, agent.description)) {
      const unmet = loaded.unmet(agent.description);
      if (unmet.length > 0) {
        const heading = `the agent does not fit the evaluation ${path} (${findRemedies(unmet).join('; ')}):`;
        throw new PlatformError('unavailable', [heading, ...unmet.map(({ problem }) => problem)].join('\n  '));
      }
      const protocol = askedProtocol(options, loaded.protocol);
      const evaluation = manifest.name;
      const traceUrlTemplate = loaded.manifest.trace_url_template;
      const settled = { ...cell, batch, protocol, limits, traceUrlTemplate };
      estimations.push({ evaluation, identities, models, unusable, ...settled });
    }
  }
  if (options.quiet !== true) for (const note of notes) host.warn(`note: ${note}`);
  return estimations;
}
