import type { DatasetManifest } from './dataset.js';
import { type ManifestDocument, nodeAt, parseDocument, problemAt, problemAtKey, problemOfFile } from './document.js';
import { MAX_MODELS, type EvaluationManifest, MOVED_SETTINGS } from './evaluation.js';
import { DISK } from './files.js';
import type { HardwareConstraint } from './hardware.js';
import { identityOf, type ManifestIdentity } from './identity.js';
import { interpretDocument, type ManifestKind, type ManifestOf } from './load.js';
import { byPosition, type Note, type Problem, type Problems } from './problem.js';
import { quoted } from '../base/quoted.js';
import { besideManifest, isManifestPath, type ModelReference, parseModelReference } from './reference.js';
import { loadReferred, type ReportReference } from './referred.js';
import { type ResolvedModel, type ResolveOptions, resolveModelReference } from './resolve-model.js';
import type { SoftwareConstraint } from './software.js';
import type { YamlPath } from './yaml-tree.js';

export interface ResolvedEvaluation {
  readonly ok: true;
  readonly evaluation: EvaluationManifest;
  readonly models: readonly ResolvedModel[];
  readonly hardware: HardwareConstraint | undefined;
  readonly software: SoftwareConstraint | undefined;
  readonly dataset: DatasetManifest | undefined;
  readonly notes: readonly Note[];
  /** The evaluation's own, and those of hardware, software and dataset. */
  readonly identities: readonly ManifestIdentity[];
  /** The YAML document of the evaluation itself. */
  readonly document: ManifestDocument;
}

/** Notes on keys that belong under the plugin's settings now. */
function movedNotes(document: ManifestDocument): readonly Note[] {
  return MOVED_SETTINGS.flatMap((key): readonly Note[] => {
    if (nodeAt(document.root, [key]) === undefined) return [];
    const { file, line, column, path } = problemAtKey(document, [key], '', '');
    return [{ file, line, column, path, message: `belongs under settings now, as settings.${key}` }];
  });
}

/**
 * Follows the references in one evaluation's document, and collects the problems of these references and of the files
 * that they refer to.
 */
class Resolver {
  readonly ownProblems: Problem[] = [];
  readonly referredProblems: Problem[] = [];
  readonly notes: Note[] = [];
  /** Of the referred manifests of hardware, software and dataset. */
  readonly identities: ManifestIdentity[] = [];

  constructor(
    private readonly document: ManifestDocument,
    private readonly options: ResolveOptions,
  ) {}

  private reporter(path: YamlPath): ReportReference {
    return (expected, found) => problemAt(this.document, path, expected, found);
  }

  private keep<T extends { readonly ok: true; readonly notes: readonly Note[] }>(found: T | Problems): T | undefined {
    if (found.ok) {
      this.notes.push(...found.notes);
      return found;
    }
    for (const problem of found.problems) {
      (problem.file === this.document.file ? this.ownProblems : this.referredProblems).push(problem);
    }
    return undefined;
  }

  async models(): Promise<readonly ResolvedModel[]> {
    const list = nodeAt(this.document.root, ['models']);
    const items = list?.kind === 'sequence' ? list.items.slice(0, MAX_MODELS) : [];
    const models: ResolvedModel[] = [];
    const placeByName = new Map<string, number>();
    for (const [i, item] of items.entries()) {
      const report = this.reporter(['models', i]);
      const reference = item.kind === 'scalar' ? parseModelReference(item.text) : undefined;
      const model = reference === undefined ? undefined : await this.model(reference, report);
      if (model === undefined) continue;
      const earlier = placeByName.get(model.name);
      if (earlier !== undefined) {
        this.ownProblems.push(report('models of different names', `${quoted(model.name)}, as models[${earlier}] has`));
      }
      placeByName.set(model.name, earlier ?? i);
      models.push(model);
    }
    return models;
  }

  private async model(reference: ModelReference, report: ReportReference): Promise<ResolvedModel | undefined> {
    const { file } = this.document;
    const seen = reference.kind === 'zoo' ? reference : { ...reference, path: besideManifest(file, reference.path) };
    return this.keep(await resolveModelReference(seen, report, this.options))?.model;
  }

  /** The manifest that the path under its kind's key leads to; undefined where there is no path. */
  async manifest<K extends ManifestKind>(kind: K): Promise<ManifestOf<K> | undefined> {
    const node = nodeAt(this.document.root, [kind]);
    if (node?.kind !== 'scalar' || !isManifestPath(node.text)) return undefined;
    const path = besideManifest(this.document.file, node.text);
    const referred = await loadReferred(path, kind, this.reporter([kind]), this.options.files);
    const manifest = this.keep(referred.ok ? referred.loaded : referred)?.manifest;
    if (manifest !== undefined && referred.ok) this.identities.push(identityOf(kind, manifest, referred.document));
    return manifest;
  }
}

/**
 * Loads an evaluation and everything that it refers to. The problems of all these files are returned together, the
 * evaluation's first. References can't form a cycle: an evaluation refers to models, hardware, software and a dataset,
 * and these refer to no manifest.
 */
export async function resolveEvaluation(
  path: string,
  options: ResolveOptions = {},
): Promise<ResolvedEvaluation | Problems> {
  const file = await (options.files ?? DISK).read(path);
  if (!file.ok) return { ok: false, problems: [problemOfFile(path, 'an evaluation manifest', file.found)] };
  const document = parseDocument(path, file.bytes);
  if (!document.ok) return document;
  const loaded = interpretDocument(document, ['evaluation']);

  const resolver = new Resolver(document, options);
  const models = await resolver.models();
  const hardware = await resolver.manifest('hardware');
  const software = await resolver.manifest('software');
  const dataset = await resolver.manifest('dataset');
  const ownProblems = [...(loaded.ok ? [] : loaded.problems), ...resolver.ownProblems];
  const problems = [...byPosition(ownProblems), ...resolver.referredProblems];
  if (!loaded.ok || problems.length > 0) return { ok: false, problems };

  const evaluation = loaded.manifest;
  return {
    ok: true,
    evaluation,
    models,
    hardware: typeof evaluation.hardware === 'object' ? evaluation.hardware : hardware,
    software: typeof evaluation.software === 'object' ? evaluation.software : software,
    dataset,
    notes: [...movedNotes(document), ...resolver.notes],
    identities: [identityOf('evaluation', evaluation, document), ...resolver.identities],
    document,
  };
}
