import type { Checksum, ModelManifest } from './model.js';
import { type ManifestDocument, nodeAt, problemAt, problemOfFile } from './document.js';
import { byPosition, type Note, type Problem, type Problems } from './problem.js';
import { DISK, type ManifestFiles } from './files.js';
import {
  besideManifest,
  isUrl,
  MODEL_REFERENCE,
  type ModelReference,
  parseModelReference,
  ZOO_PREFIX,
  parseZooName,
} from './reference.js';
import { computeDigest } from './checksum.js';
import { FETCH_COMMAND } from './fetched-files.js';
import { identifyManifest, type ManifestIdentity } from './identity.js';
import { LOCK_FILE, parseLock } from './lock-file.js';
import { loadReferred, type ReportReference } from './referred.js';
import { quoted } from '../base/quoted.js';
import { shellQuoted } from '../base/shell-quoted.js';
import { suggestion } from '../base/suggestion.js';

export type GraphSource =
  | { readonly kind: 'file'; readonly path: string; readonly checksum: Checksum | undefined }
  | { readonly kind: 'zoo'; readonly name: string };

export interface ResolvedModel {
  /** Of the manifest, the file without `.onnx`, or the zoo. */
  readonly name: string;
  readonly source: GraphSource;
  readonly manifest: ModelManifest | undefined;
  readonly identity?: ManifestIdentity | undefined;
}

export interface ResolveOptions {
  /** Absent where any name is accepted. */
  readonly zooNames?: () => Promise<readonly string[]>;
  readonly files?: ManifestFiles;
}

export type ModelResolution =
  { readonly ok: true; readonly model: ResolvedModel; readonly notes: readonly Note[] } | Problems;

export function zooHint(name: string, names: readonly string[] = []): string {
  const meant = suggestion(name, names);
  return meant === undefined ? '' : ` (did you mean ${quoted(`zoo:${meant}`)}?)`;
}

async function missingFromZoo(name: string, { zooNames }: ResolveOptions) {
  const names = await zooNames?.();
  if (names === undefined || names.includes(name)) return undefined;
  return {
    expected: "a model of the zoo ('mlmodelscope registry models' lists them)",
    found: quoted(`zoo:${name}`) + zooHint(name, names),
  };
}

async function missingFile(path: string, { files = DISK }: ResolveOptions): Promise<string | undefined> {
  const found = await files.missing(path);
  return found === undefined ? undefined : `${found} at ${quoted(path)}`;
}

function baseName(path: string): string {
  return path.replace(/^.*[/\\]/, '').replace(/\.onnx$/i, '');
}

async function unfetchedProblem(
  document: ManifestDocument,
  { model, downloads = [] }: ModelManifest,
  options: ResolveOptions,
): Promise<Problem | undefined> {
  const { graph_path: path = '' } = model;
  const download = downloads.find(({ kind }) => kind === 'graph' || kind === 'archive');
  if (download === undefined) return undefined;
  const found = await missingFile(besideManifest(document.file, path), options);
  if (found === undefined) return undefined;
  const at = ['model', 'graph_path'];
  const advice = `get it with \`${FETCH_COMMAND} ${shellQuoted(document.file)}\``;
  return problemAt(document, at, `the file of ${quoted(download.url)}`, `${found}; ${advice}`);
}

async function graphProblems(
  document: ManifestDocument,
  manifest: ModelManifest | undefined,
  options: ResolveOptions,
): Promise<readonly Problem[]> {
  const at = ['model', 'graph_path'];
  if (manifest !== undefined && manifest.model.graph_path === undefined) {
    return [problemAt(document, at, 'the path or address of a graph')];
  }
  const unfetched = manifest === undefined ? undefined : await unfetchedProblem(document, manifest, options);
  if (unfetched !== undefined) return [unfetched];
  const node = nodeAt(document.root, at);
  const path = manifest?.model.graph_path ?? (node?.kind === 'scalar' ? node.text : '');
  if (path === '' || isUrl(path)) return [];
  const name = parseZooName(path);
  if (name !== undefined) {
    const missing = await missingFromZoo(name, options);
    return missing === undefined ? [] : [problemAt(document, at, missing.expected, missing.found)];
  }
  if (path.startsWith(ZOO_PREFIX)) return [];
  const found = await missingFile(besideManifest(document.file, path), options);
  return found === undefined ? [] : [problemAt(document, at, 'a model file', found)];
}

async function pinnedChecksum(file: string, path: string, { files = DISK }: ResolveOptions) {
  const lock = await files.read(besideManifest(file, LOCK_FILE));
  const pin = lock.ok ? parseLock(lock.bytes)?.files.get(path) : undefined;
  return pin === undefined ? undefined : ({ algorithm: 'sha256', digest: pin.sha256 } as const);
}

async function resolveSource(
  file: string,
  { model, downloads = [] }: ModelManifest,
  options: ResolveOptions,
): Promise<GraphSource> {
  const { graph_path: path = '', checksum } = model;
  const name = parseZooName(path);
  if (name !== undefined) return { kind: 'zoo', name };
  const isFetched = downloads.some(({ kind }) => kind === 'graph' || kind === 'archive');
  const pinned = checksum === undefined && isFetched ? await pinnedChecksum(file, path, options) : undefined;
  return { kind: 'file', path: besideManifest(file, path), checksum: checksum ?? pinned };
}

async function withChecksum(problem: Problem, document: ManifestDocument, { files = DISK }: ResolveOptions) {
  const node = nodeAt(document.root, ['model', 'graph_path']);
  if (problem.path !== 'model.checksum' || files !== DISK || node?.kind !== 'scalar') return problem;
  const digest = await computeDigest(besideManifest(document.file, node.text), 'sha256').catch(() => undefined);
  return digest === undefined ? problem : { ...problem, found: `${problem.found}; ${quoted(node.text)} has ${digest}` };
}

async function resolveManifest(
  path: string,
  report: ReportReference,
  options: ResolveOptions,
): Promise<ModelResolution> {
  const referred = await loadReferred(path, 'model', report, options.files);
  if (!referred.ok) return referred;
  const { document, loaded } = referred;
  const ofGraph = await graphProblems(document, loaded.ok ? loaded.manifest : undefined, options);
  const ofManifest = loaded.ok
    ? []
    : await Promise.all(loaded.problems.map((one) => withChecksum(one, document, options)));
  const problems = [...ofManifest, ...ofGraph];
  if (!loaded.ok || problems.length > 0) return { ok: false, problems: byPosition(problems) };
  const { manifest, notes } = loaded;
  const source = await resolveSource(path, manifest, options);
  const identity = identifyManifest('model', manifest, document);
  return { ok: true, model: { name: manifest.name, source, manifest, identity }, notes };
}

/**
 * Checks that the graph exists, but does not compare its checksum (see verifyChecksum).
 *
 * @param report makes the problem where the reference itself is wrong
 */
export async function resolveModelReference(
  reference: ModelReference,
  report: ReportReference,
  options: ResolveOptions,
): Promise<ModelResolution> {
  switch (reference.kind) {
    case 'manifest':
      return resolveManifest(reference.path, report, options);
    case 'zoo': {
      const { name } = reference;
      const missing = await missingFromZoo(name, options);
      if (missing !== undefined) return { ok: false, problems: [report(missing.expected, missing.found)] };
      return { ok: true, model: { name, source: { kind: 'zoo', name }, manifest: undefined }, notes: [] };
    }
    case 'onnx': {
      const { path } = reference;
      const found = await missingFile(path, options);
      if (found !== undefined) return { ok: false, problems: [report('an ONNX file', found)] };
      const source = { kind: 'file', path, checksum: undefined } as const;
      return { ok: true, model: { name: baseName(path), source, manifest: undefined }, notes: [] };
    }
  }
}

export async function resolveModel(text: string, options: ResolveOptions = {}): Promise<ModelResolution> {
  const report = (expected: string, found: string): Problem => problemOfFile(text, expected, found);
  const reference = parseModelReference(text);
  if (reference !== undefined) return resolveModelReference(reference, report, options);
  const isFolder = (await (options.files ?? DISK).missing(text)) === 'a folder';
  const found = isFolder
    ? `the folder ${quoted(text)}; name its files, as in FOLDER/*.onnx`
    : quoted(text) + zooHint(text, await options.zooNames?.());
  return { ok: false, problems: [report(MODEL_REFERENCE, found)] };
}
