import { z } from 'zod';
import { datasetSchema, type DatasetManifest } from './dataset.js';
import { describe, type ManifestDocument, nodeAt, parseDocument, problemAt, problemOfFile } from './document.js';
import { evaluationSchema, type EvaluationManifest } from './evaluation.js';
import { hardwareSchema, type HardwareManifest } from './hardware.js';
import { modelSchema, type ModelManifest } from './model.js';
import { isOlderModel, readOlderModel } from './older-model.js';
import { byPosition, type Loaded, type Problems } from './problem.js';
import { quoted } from '../base/quoted.js';
import { readManifestBytes } from './read-file.js';
import { shippedManifest } from './shipped-manifest.js';
import { softwareSchema, type SoftwareManifest } from './software.js';
import { suggestion } from '../base/suggestion.js';
import { validate } from './validate.js';

interface Manifests {
  readonly hardware: HardwareManifest;
  readonly software: SoftwareManifest;
  readonly dataset: DatasetManifest;
  readonly model: ModelManifest;
  readonly evaluation: EvaluationManifest;
}

export type ManifestKind = keyof Manifests;

export type ManifestOf<K extends ManifestKind> = Manifests[K];

const SCHEMAS: { readonly [K in ManifestKind]: z.ZodType<Manifests[K]> } = {
  hardware: hardwareSchema,
  software: softwareSchema,
  dataset: datasetSchema,
  model: modelSchema,
  evaluation: evaluationSchema,
};

export const MANIFEST_KINDS = Object.keys(SCHEMAS) as ManifestKind[];

/** JSON Schema (draft 2020-12) of a manifest as it is written. */
export function kindJsonSchema(kind: ManifestKind): Readonly<Record<string, unknown>> {
  return z.toJSONSchema(SCHEMAS[kind], { io: 'input', unrepresentable: 'any' });
}

function header(kind: ManifestKind): string {
  return `${kind}/v1`;
}

const TAKEN_BY: ReadonlyMap<ManifestKind | undefined, string> = new Map([
  ['model', ' (`mlmodelscope dlbricks run` and `mlmodelscope latency` take models)'],
  ['evaluation', ' (`mlmodelscope dlbricks run` and `mlmodelscope evaluate` take evaluations)'],
  [undefined, ''],
]);

/** For messages of other commands. */
export function takenBy(kind: ManifestKind | undefined): string {
  return TAKEN_BY.get(kind) ?? ` (evaluation manifests refer to it by their key \`${kind}\`)`;
}

export function statedKind({ root }: ManifestDocument): ManifestKind | undefined {
  const node = nodeAt(root, ['dlspec']);
  return MANIFEST_KINDS.find((kind) => node?.kind === 'scalar' && header(kind) === node.text);
}

function readKind<K extends ManifestKind>(document: ManifestDocument, wanted: readonly K[]): K | Problems {
  const stated = statedKind(document);
  const kind = wanted.find((candidate) => candidate === stated);
  if (kind !== undefined) return kind;
  const [only] = wanted;
  // Checked as the only possible kind, which also finds all its other problems.
  if (only !== undefined && wanted.length === 1 && stated === undefined) return only;
  const node = nodeAt(document.root, ['dlspec']);
  const headers = wanted.map(header);
  const meant = node?.kind === 'scalar' ? suggestion(node.text, headers) : undefined;
  const found = describe(node) + (meant === undefined ? takenBy(stated) : ` (did you mean ${quoted(meant)}?)`);
  const problem = problemAt(document, ['dlspec'], headers.map(quoted).join(' or '), found);
  return { ok: false, problems: byPosition([...document.problems, problem]) };
}

export function interpretDocument<K extends ManifestKind>(
  document: ManifestDocument,
  wanted: readonly K[],
): Loaded<ManifestOf<K>> | Problems {
  if (document.root.kind !== 'mapping') {
    const problem = problemAt(document, [], 'a mapping');
    return { ok: false, problems: document.problems.length > 0 ? document.problems : [problem] };
  }
  if (wanted.some((kind) => kind === 'model') && isOlderModel(document)) {
    return readOlderModel(document) as Loaded<ManifestOf<K>> | Problems;
  }
  const kind = readKind(document, wanted);
  if (typeof kind === 'object') return kind;
  const result = validate(document, SCHEMAS[kind]);
  return result.ok ? { ok: true, manifest: result.data, notes: [] } : result;
}

/** undefined where the file states none */
export async function kindOfManifest(named: string): Promise<ManifestKind | undefined> {
  const path = shippedManifest(named);
  const file = await readManifestBytes(path);
  if (!file.ok) return undefined;
  const document = parseDocument(path, file.bytes);
  if (!document.ok) return undefined;
  return isOlderModel(document) ? 'model' : statedKind(document);
}

/** Older model manifests become {@link ModelManifest}s. Files that the manifest refers to are not read. */
export async function loadManifest<K extends ManifestKind = ManifestKind>(
  path: string,
  wanted: readonly K[] = MANIFEST_KINDS as K[],
): Promise<(Loaded<ManifestOf<K>> & Pick<ManifestDocument, 'sha256'>) | Problems> {
  const file = await readManifestBytes(path);
  if (!file.ok) return { ok: false, problems: [problemOfFile(path, 'a manifest file', file.found)] };
  const document = parseDocument(path, file.bytes);
  if (!document.ok) return document;
  const loaded = interpretDocument(document, wanted);
  return loaded.ok ? { ...loaded, sha256: document.sha256 } : loaded;
}
