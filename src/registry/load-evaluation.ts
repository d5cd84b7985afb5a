import {
  type Candidate,
  type EvaluationManifest,
  formatNote,
  limitsOf,
  orThrow,
  pluginSettings,
  protocolOf,
  type ResolvedEvaluation,
  resolveEvaluation,
  type Requirements,
  requirementsOf,
  unmetRequirements,
} from '../manifest/index.js';
import type { z } from 'zod';
import { DISK, type ManifestFiles } from '../manifest/files.js';
import type { Limits, Protocol } from '../measurement/protocol.js';
import { type UnusableModel, unusableModel } from './unusable-model.js';
import { type LoadedModel, type LoadOptions, loadResolvedModel, ZOO_NAMES } from './load-model.js';

/** An evaluation manifest with its models read. */
export interface LoadedEvaluation {
  readonly manifest: EvaluationManifest;
  readonly protocol: Protocol;
  readonly limits: Limits;
  readonly models: readonly LoadedModel[];
  readonly requirements: Requirements;
  /** The requirements that a system does not meet, one line each. */
  readonly unmet: (system: Candidate) => readonly string[];
  /** Notes on its manifests. */
  readonly notes: readonly string[];
  /**
   * The manifest's `settings`, checked against its plugin's schema.
   *
   * @throws PlatformError `manifest` with every problem and its place
   */
  readonly settingsOf: <Settings>(schema: z.ZodType<Settings>) => Settings;
}

export interface LoadEvaluationOptions extends Partial<LoadOptions> {
  /** Where its manifests are; by default on this machine. */
  readonly files?: ManifestFiles;
  /** Called before any model is read. It throws to refuse the evaluation. */
  readonly check?: (manifest: EvaluationManifest, requirements: Requirements) => void | Promise<void>;
  /** Called before each model is read. */
  readonly onModel?: (name: string, done: number, total: number) => void;
  /** Gets models that cannot be used, as long as others can; without it, the first one is an error. */
  readonly onUnusable?: (model: UnusableModel) => void;
}

/**
 * Loads an evaluation manifest, everything that it refers to, and its models' graphs.
 *
 * @throws PlatformError `manifest` with all problems of all manifests, else as {@link loadResolvedModel}, and what
 *   `check` throws
 */
export async function loadEvaluation(path: string, options: LoadEvaluationOptions = {}): Promise<LoadedEvaluation> {
  const { files = DISK } = options;
  const resolved: ResolvedEvaluation = orThrow(await resolveEvaluation(path, { zooNames: ZOO_NAMES, files }));
  await options.check?.(resolved.evaluation, requirementsOf(resolved));
  const batch = options.batch ?? resolved.evaluation.batch_size;
  const dimensions = new Map([...Object.entries(resolved.evaluation.dimensions ?? {}), ...(options.dimensions ?? [])]);
  const models: LoadedModel[] = [];
  for (const [done, model] of resolved.models.entries()) {
    options.onModel?.(model.name, done, resolved.models.length);
    try {
      models.push(await loadResolvedModel(model, { ...options, batch, dimensions }));
    } catch (error) {
      const isLastHope = models.length === 0 && done === resolved.models.length - 1;
      if (options.onUnusable === undefined || isLastHope) throw error;
      options.onUnusable(unusableModel(model.name, error));
    }
  }
  const { dataset } = resolved;
  const datasetNotes =
    dataset?.sources === undefined ? [] : [`dataset ${dataset.name} is not read: inputs are made up from a seed`];
  return {
    manifest: resolved.evaluation,
    protocol: protocolOf(resolved.evaluation),
    limits: limitsOf(resolved.evaluation),
    models,
    requirements: requirementsOf(resolved),
    unmet: (system) => unmetRequirements(resolved, system),
    notes: [...resolved.notes.map(formatNote), ...datasetNotes],
    settingsOf: (schema) => pluginSettings(resolved.document, schema),
  };
}
