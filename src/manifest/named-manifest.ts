import { join } from 'node:path';
import { quoted } from '../base/quoted.js';
import { sha256Of } from '../base/sha256.js';
import { type ManifestDocument, parseDocument, problemAt } from './document.js';
import type { ManifestFiles } from './files.js';
import { interpretDocument, type ManifestKind } from './load.js';
import { LOCK_FILE, parseLock } from './lock-file.js';
import type { Problem } from './problem.js';
import { besideManifest, isManifestPath, type NamedReference, parseNamedReference } from './reference.js';
import type { YamlPath } from './yaml-tree.js';

const FOLDERS: Readonly<Record<ManifestKind, string>> = {
  model: 'models',
  hardware: 'hardware',
  software: 'software',
  dataset: 'datasets',
  evaluation: 'evaluations',
};

/** The file that a reference names, or why there is none; also why it is not the pinned one. */
export interface Located {
  readonly path?: string;
  readonly sha256?: string;
  readonly problem?: Problem | undefined;
}

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
  const report = (expected: string, found: string): Problem => problemAt(document, at, expected, found);
  const { file } = document;
  const named = parseNamedReference(reference);
  if (named === undefined && !isManifestPath(reference)) return undefined;
  const others: string[] = [];
  const path =
    named === undefined ? besideManifest(file, reference) : await findNamed(kind, named, file, files, others);
  if (path === undefined) {
    const expected = `a ${kind} manifest ${reference} beside this one, in ${FOLDERS[kind]} or in ../${FOLDERS[kind]}`;
    const none = `no ${named?.name}.yml or ${reference}.yml of this kind`;
    return { problem: report(expected, others.length === 0 ? none : others.join(', ')) };
  }
  const read = await files.read(path);
  if (!read.ok) return { problem: report(`a ${kind} manifest`, `${read.found} at ${quoted(path)}`) };
  const sha256 = sha256Of(read.bytes);
  const lock = await files.read(besideManifest(file, LOCK_FILE));
  const pin = lock.ok ? parseLock(lock.bytes)?.manifests.get(reference) : undefined;
  if (pin === undefined || pin === sha256) return { path, sha256 };
  const remedy = `if the change is right, remove the entry from ${LOCK_FILE} and run \`mlmodelscope models fetch\` again`;
  const problem = report(
    `the manifest that ${LOCK_FILE} pins (SHA-256 ${pin.slice(0, 12)}…)`,
    `another one (${sha256.slice(0, 12)}…); ${remedy}`,
  );
  return { path, sha256, problem };
}

/** @param others gets the manifests of the kind that have the files' names, and another name or version */
async function findNamed(
  kind: ManifestKind,
  named: NamedReference,
  from: string,
  files: ManifestFiles,
  others: string[],
): Promise<string | undefined> {
  for (const folder of ['.', FOLDERS[kind], join('..', FOLDERS[kind])]) {
    for (const file of [`${named.name}@${named.version}.yml`, `${named.name}.yml`]) {
      const path = besideManifest(from, join(folder, file));
      const read = await files.read(path);
      const document = read.ok ? parseDocument(path, read.bytes) : undefined;
      const loaded = document?.ok === true ? interpretDocument(document, [kind]) : undefined;
      if (loaded?.ok !== true) continue;
      const { name, version } = loaded.manifest;
      if (name === named.name && version === named.version) return path;
      others.push(`${name}@${version} in ${quoted(path)}`);
    }
  }
  return undefined;
}
