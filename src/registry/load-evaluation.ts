import type { AgentChoice } from '../manifest/agents.js';
import {
  type Candidate,
  type Requirements,
  listRequirements,
  type UnmetRequirement,
  unmetRequirements,
} from '../manifest/requirements.js';
import type { ManifestDocument } from '../manifest/document.js';
import { formatNote, orThrow } from '../manifest/problem.js';
import type { ManifestIdentity } from '../manifest/identity.js';
import { pluginSettings } from '../manifest/plugin-settings.js';
import { type ResolvedEvaluation, resolveEvaluation } from '../manifest/resolve-evaluation.js';
import type { z } from 'zod';
import { PlatformError } from '../base/errors.js';
import {
  firstSizes,
  mostThreads,
  agentChoiceOf,
  type EvaluationManifest,
  readLimits,
  readProtocol,
} from '../manifest/evaluation.js';
import { DISK, type ManifestFiles } from '../manifest/files.js';
import { shippedManifest } from '../manifest/shipped-manifest.js';
import type { Limits, Protocol } from '../measurement/protocol.js';
import { type UnusableModel, unusableModel } from './unusable-model.js';
import { type LoadedModel, type LoadOptions, loadResolvedModel, zooNames } from './load-model.js';

export interface LoadedEvaluation {
  readonly manifest: EvaluationManifest;
  readonly protocol: Protocol;
  readonly limits: Limits;
  readonly models: readonly LoadedModel[];
  readonly unusable: readonly UnusableModel[];
  readonly identities: readonly ManifestIdentity[];
  readonly requirements: Requirements;
  readonly unmet: (system: Candidate) => readonly UnmetRequirement[];
  readonly notes: readonly string[];
  /** Checked against the plugin's schema. @throws PlatformError `manifest` with every problem and its place */
  readonly settingsOf: <Settings>(schema: z.ZodType<Settings>) => Settings;
}

export interface LoadEvaluationOptions extends Partial<LoadOptions> {
  readonly allowVersion?: boolean | undefined;
  readonly agents?: AgentChoice | undefined;
  /** Instead of the manifest's. */
  readonly threads?: number | undefined;
  readonly files?: ManifestFiles;
  /** Called before any model is read. May throw. */
  readonly check?: (
    manifest: EvaluationManifest,
    requirements: Requirements,
    document: ManifestDocument,
  ) => void | Promise<void>;
  readonly onModel?: (name: string, done: number, total: number) => void;
  readonly onUnusable?: (model: UnusableModel) => void;
}

/**
 * Leaves out a model that cannot be used, as long as another one can.
 *
 * @throws PlatformError `manifest` with all problems of all manifests, the error that `check` throws, `model` where
 *   no model can be used, and as {@link loadResolvedModel} for an only model
 */
export async function loadEvaluation(named: string, options: LoadEvaluationOptions = {}): Promise<LoadedEvaluation> {
  const { files = DISK } = options;
  // A submission's files have the paths that its client found.
  const path = options.files === undefined ? shippedManifest(named) : named;
  const resolved: ResolvedEvaluation = orThrow(await resolveEvaluation(path, { zooNames, files }));
  const {
    allowVersion,
    agents = agentChoiceOf(resolved.evaluation),
    threads = mostThreads(resolved.evaluation),
  } = options;
  const requirements = listRequirements({ ...resolved, allowVersion, agents, threads });
  await options.check?.(resolved.evaluation, requirements, resolved.document);
  const batch = options.batch ?? resolved.evaluation.batch_size;
  const dimensions = new Map([
    ...Object.entries(resolved.evaluation.dimensions ?? {}),
    ...firstSizes(resolved.evaluation),
    ...(options.dimensions ?? []),
  ]);
  const models: LoadedModel[] = [];
  const unusable: UnusableModel[] = [];
  for (const [done, model] of resolved.models.entries()) {
    options.onModel?.(model.name, done, resolved.models.length);
    try {
      models.push(await loadResolvedModel(model, { ...options, batch, dimensions }));
    } catch (error) {
      if (resolved.models.length === 1) throw error;
      const one = unusableModel(model.name, error);
      unusable.push(one);
      options.onUnusable?.(one);
    }
  }
  if (models.length === 0) throw new PlatformError('model', unusable.map(({ reason }) => reason).join('\n'));
  const { dataset } = resolved;
  const datasetNotes =
    dataset?.sources === undefined ? [] : [`dataset ${dataset.name} is not read: inputs are made up from a seed`];
  return {
    manifest: resolved.evaluation,
    protocol: readProtocol(resolved.evaluation),
    limits: readLimits(resolved.evaluation),
    models,
    unusable,
    identities: resolved.identities,
    requirements,
    unmet: (system) => unmetRequirements(requirements, system),
    notes: [...resolved.notes.map(formatNote), ...models.flatMap(({ notes }) => notes), ...datasetNotes],
    settingsOf: (schema) => pluginSettings(resolved.document, schema),
  };
}
