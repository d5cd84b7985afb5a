import { append } from '../base/long-lists.js';
import type { DatasetManifest } from './dataset.js';
import { type ManifestDocument, nodeAt, parseDocument, noteAtKey, problemAt, problemOfFile } from './document.js';
import { EVALUATED_MODEL, MAX_MODELS, type EvaluationManifest, MOVED_SETTINGS } from './evaluation.js';
import { DISK, type ManifestFiles } from './files.js';
import type { HardwareConstraint } from './hardware.js';
import { identifyManifest, type ManifestIdentity } from './identity.js';
import { interpretDocument, type ManifestKind, type ManifestOf } from './load.js';
import { byPosition, type Note, orThrow, type Problem, type Problems } from './problem.js';
import { quoted } from '../base/quoted.js';
import { type Located, locateManifest } from './named-manifest.js';
import { besideManifest, type ModelReference, parseModelReference } from './reference.js';
import { loadReferred, type ReportReference } from './referred.js';
import { type ResolvedModel, type ResolveOptions, resolveModelReference, zooHint } from './resolve-model.js';
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
  readonly document: ManifestDocument;
}

function movedNotes(document: ManifestDocument): readonly Note[] {
  return MOVED_SETTINGS.flatMap((key): readonly Note[] => {
    if (nodeAt(document.root, [key]) === undefined) return [];
    return [noteAtKey(document, [key], `belongs under settings now, as settings.${key}`)];
  });
}

/** Collects the problems of the references in one evaluation, and of the files that they refer to. */
class Resolver {
  readonly ownProblems: Problem[] = [];
  readonly referredProblems: Problem[] = [];
  readonly notes: Note[] = [];
  /** Of hardware, software and dataset. */
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
      append(this.notes, found.notes);
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
      const text = item.kind === 'scalar' ? item.text : '';
      const found = await this.locate('model', text, ['models', i]);
      const path = found?.path;
      const reference = found === undefined ? parseModelReference(text) : path && ({ kind: 'manifest', path } as const);
      const model = reference && (await this.model(reference, report));
      if (!model) continue;
      const earlier = placeByName.get(model.name);
      if (earlier !== undefined) {
        this.ownProblems.push(report('models of different names', `${quoted(model.name)}, as models[${earlier}] has`));
      }
      placeByName.set(model.name, earlier ?? i);
      models.push(model);
    }
    return models;
  }

  private async locate(kind: ManifestKind, text: string, at: YamlPath): Promise<Located | undefined> {
    const located = await locateManifest(this.document, kind, text, at, this.options.files ?? DISK);
    if (located?.problem !== undefined) this.ownProblems.push(located.problem);
    return located;
  }

  private async model(reference: ModelReference, report: ReportReference): Promise<ResolvedModel | undefined> {
    const { file } = this.document;
    const seen = reference.kind === 'onnx' ? { ...reference, path: besideManifest(file, reference.path) } : reference;
    return this.keep(await resolveModelReference(seen, report, this.options))?.model;
  }

  async manifest<K extends ManifestKind>(kind: K): Promise<ManifestOf<K> | undefined> {
    const node = nodeAt(this.document.root, [kind]);
    if (node?.kind !== 'scalar') return undefined;
    const path = (await this.locate(kind, node.text, [kind]))?.path;
    if (path === undefined) return undefined;
    const referred = await loadReferred(path, kind, this.reporter([kind]), this.options.files);
    const manifest = this.keep(referred.ok ? referred.loaded : referred)?.manifest;
    if (manifest !== undefined && referred.ok)
      this.identities.push(identifyManifest(kind, manifest, referred.document));
    return manifest;
  }
}

async function readDocument(path: string, files: ManifestFiles): Promise<ManifestDocument | Problems> {
  const file = await files.read(path);
  if (file.ok) return parseDocument(path, file.bytes);
  return { ok: false, problems: [problemOfFile(path, 'an evaluation manifest', file.found)] };
}

async function withZooHints(
  problems: readonly Problem[],
  { root }: ManifestDocument,
  { zooNames }: ResolveOptions,
): Promise<readonly Problem[]> {
  const names = await zooNames?.();
  return problems.map((problem) => {
    const [, index] = /^models\[(\d+)\]$/.exec(problem.path) ?? [];
    const node = problem.expected === EVALUATED_MODEL ? nodeAt(root, ['models', Number(index)]) : undefined;
    return node?.kind === 'scalar' ? { ...problem, found: problem.found + zooHint(node.text, names) } : problem;
  });
}

export interface ReferredManifest {
  readonly kind: ManifestKind;
  readonly reference: string;
  readonly path: string;
  readonly sha256: string;
}

/**
 * Whether or not the graphs are there.
 *
 * @throws PlatformError `manifest` where the evaluation has mistakes, a manifest is missing, or is not the pinned one
 */
export async function referredManifests(path: string): Promise<readonly ReferredManifest[]> {
  const document = orThrow(await readDocument(path, DISK));
  const { manifest } = orThrow(interpretDocument(document, ['evaluation']));
  const others = (['hardware', 'software', 'dataset'] as const).flatMap((kind) => {
    const reference = manifest[kind];
    return typeof reference === 'string' ? [{ kind, reference, at: [kind] as YamlPath }] : [];
  });
  const models = manifest.models.map((reference, index) => {
    return { kind: 'model' as const, reference, at: ['models', index] as YamlPath };
  });
  const found: ReferredManifest[] = [];
  const problems: Problem[] = [];
  for (const { kind, reference, at } of [...models, ...others]) {
    const located = await locateManifest(document, kind, reference, at, DISK);
    if (located?.problem !== undefined) problems.push(located.problem);
    else if (located !== undefined) found.push({ kind, reference, path: located.path, sha256: located.sha256 });
  }
  if (problems.length > 0) orThrow({ ok: false, problems });
  return found;
}

/**
 * Returns the problems of all files together, the evaluation's first. References can't form a cycle: what an evaluation
 * refers to refers to no manifest.
 */
export async function resolveEvaluation(
  path: string,
  options: ResolveOptions = {},
): Promise<ResolvedEvaluation | Problems> {
  const document = await readDocument(path, options.files ?? DISK);
  if (!document.ok) return document;
  const loaded = interpretDocument(document, ['evaluation']);

  const resolver = new Resolver(document, options);
  const models = await resolver.models();
  const hardware = await resolver.manifest('hardware');
  const software = await resolver.manifest('software');
  const dataset = await resolver.manifest('dataset');
  const ofDocument = loaded.ok ? [] : await withZooHints(loaded.problems, document, options);
  const ownProblems = [...ofDocument, ...resolver.ownProblems];
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
    identities: [identifyManifest('evaluation', evaluation, document), ...resolver.identities],
    document,
  };
}
