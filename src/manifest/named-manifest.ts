import { join } from 'node:path';
import { quoted } from '../base/quoted.js';
import { sha256Of } from '../base/sha256.js';
import { type ManifestDocument, parseDocument, problemAt } from './document.js';
import type { ManifestFiles } from './files.js';
import { interpretDocument, type ManifestKind } from './load.js';
import { LOCK_FILE, parseLock } from './lock-file.js';
import type { Problem } from './problem.js';
import { besideManifest, isManifestPath, type NamedReference, parseNamedReference } from './reference.js';
import type { ReportReference } from './referred.js';
import type { YamlPath } from './yaml-tree.js';

const FOLDERS: Readonly<Record<ManifestKind, string>> = {
  model: 'models',
  hardware: 'hardware',
  software: 'software',
  dataset: 'datasets',
  evaluation: 'evaluations',
};

interface Found {
  readonly path: string;
  readonly sha256: string;
}

/** The file that a reference names, or why there is none. The file is also known where it is not the pinned one. */
export type Located = (Found & { readonly problem?: undefined }) | (Partial<Found> & { readonly problem: Problem });

/**
 * A reference is a path, or NAME@VERSION of a manifest in NAME.yml or NAME@VERSION.yml: beside the evaluation, or in
 * the folder of its kind there or one folder above.
 *
 * @param document the evaluation's, with the reference `at` this place @returns undefined for a reference of another form
 */
export async function locateManifest(
  document: ManifestDocument,
  kind: ManifestKind,
  reference: string,
  at: YamlPath,
  files: ManifestFiles,
): Promise<Located | undefined> {
  const report: ReportReference = (expected, found) => problemAt(document, at, expected, found);
  const { file } = document;
  const named = parseNamedReference(reference);
  if (named === undefined && !isManifestPath(reference)) return undefined;
  const found =
    named === undefined
      ? await findAt(kind, besideManifest(file, reference), files, report)
      : await findNamed(kind, named, reference, file, files, report);
  if (found.problem !== undefined) return found;
  const { path, sha256 } = found;
  const lock = await files.read(besideManifest(file, LOCK_FILE));
  const pin = lock.ok ? parseLock(lock.bytes)?.manifests.get(reference) : undefined;
  if (pin === undefined || pin === sha256) return found;
  const remedy = `if the change is right, remove the entry from ${LOCK_FILE} and run \`mlmodelscope models fetch\` again`;
  const problem = report(
    `the manifest that ${LOCK_FILE} pins (SHA-256 ${pin.slice(0, 12)}…)`,
    `another one (${sha256.slice(0, 12)}…); ${remedy}`,
  );
  return { path, sha256, problem };
}

async function findAt(
  kind: ManifestKind,
  path: string,
  files: ManifestFiles,
  report: ReportReference,
): Promise<Located> {
  const read = await files.read(path);
  if (read.ok) return { path, sha256: sha256Of(read.bytes) };
  return { problem: report(`a ${kind} manifest`, `${read.found} at ${quoted(path)}`) };
}

async function findNamed(
  kind: ManifestKind,
  named: NamedReference,
  reference: string,
  from: string,
  files: ManifestFiles,
  report: ReportReference,
): Promise<Located> {
  /** Manifests of the kind that have the files' names, and another name or version. */
  const others: string[] = [];
  for (const folder of ['.', FOLDERS[kind], join('..', FOLDERS[kind])]) {
    for (const file of [`${named.name}@${named.version}.yml`, `${named.name}.yml`]) {
      const path = besideManifest(from, join(folder, file));
      const read = await files.read(path);
      const document = read.ok ? parseDocument(path, read.bytes) : undefined;
      if (document?.ok !== true) continue;
      const loaded = interpretDocument(document, [kind]);
      if (!loaded.ok) continue;
      const { name, version } = loaded.manifest;
      if (name === named.name && version === named.version) return { path, sha256: document.sha256 };
      others.push(`${name}@${version} in ${quoted(path)}`);
    }
  }
  const expected = `a ${kind} manifest ${reference} beside this one, in ${FOLDERS[kind]} or in ../${FOLDERS[kind]}`;
  const none = `no ${named.name}.yml or ${reference}.yml of this kind`;
  return { problem: report(expected, others.length === 0 ? none : others.join(', ')) };
}
