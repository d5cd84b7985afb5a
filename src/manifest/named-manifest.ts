import { join } from 'node:path';
import { quoted } from '../base/quoted.js';
import { parseDocument } from './document.js';
import type { ManifestFiles } from './files.js';
import { interpretDocument, type ManifestKind } from './load.js';
import { LOCK_FILE, parseLock } from './lock-file.js';
import { besideManifest, isManifestPath, parseNamedReference } from './reference.js';

const FOLDERS: Readonly<Record<ManifestKind, string>> = {
  model: 'models',
  hardware: 'hardware',
  software: 'software',
  dataset: 'datasets',
  evaluation: 'evaluations',
};

export type Located =
  | { readonly ok: true; readonly path: string }
  | { readonly ok: false; readonly expected: string; readonly found: string };

/**
 * A reference is a path, or NAME@VERSION of a manifest in NAME.yml or NAME@VERSION.yml: beside the evaluation, or in
 * the folder of its kind there or one folder above.
 *
 * @param from the evaluation's manifest @returns undefined for a reference of another form
 */
export async function locateManifest(
  kind: ManifestKind,
  reference: string,
  from: string,
  files: ManifestFiles,
): Promise<Located | undefined> {
  if (isManifestPath(reference)) return { ok: true, path: besideManifest(from, reference) };
  const named = parseNamedReference(reference);
  if (named === undefined) return undefined;
  const others: string[] = [];
  for (const folder of ['.', FOLDERS[kind], join('..', FOLDERS[kind])]) {
    for (const file of [`${named.name}@${named.version}.yml`, `${named.name}.yml`]) {
      const path = besideManifest(from, join(folder, file));
      const read = await files.read(path);
      const document = read.ok ? parseDocument(path, read.bytes) : undefined;
      const loaded = document?.ok === true ? interpretDocument(document, [kind]) : undefined;
      if (loaded?.ok !== true) continue;
      const { name, version } = loaded.manifest;
      if (name === named.name && version === named.version) return { ok: true, path };
      others.push(`${name}@${version} in ${quoted(path)}`);
    }
  }
  const expected = `a ${kind} manifest ${reference} beside this one, in ${FOLDERS[kind]} or in ../${FOLDERS[kind]}`;
  const none = `no ${named.name}.yml or ${named.name}@${named.version}.yml of this kind`;
  return { ok: false, expected, found: others.length === 0 ? none : others.join(', ') };
}

/** Why a manifest is not the one that the lock file beside the evaluation pins. */
export async function pinProblem(
  reference: string,
  sha256: string,
  from: string,
  files: ManifestFiles,
): Promise<Pick<Located & { ok: false }, 'expected' | 'found'> | undefined> {
  const lock = await files.read(besideManifest(from, LOCK_FILE));
  const pin = lock.ok ? parseLock(lock.bytes)?.manifests.get(reference) : undefined;
  if (pin === undefined || pin === sha256) return undefined;
  const remedy = `if the change is right, remove the entry from ${LOCK_FILE} and run \`mlmodelscope models fetch\` again`;
  return {
    expected: `the manifest that ${LOCK_FILE} pins (SHA-256 ${pin.slice(0, 12)}…)`,
    found: `another one (${sha256.slice(0, 12)}…); ${remedy}`,
  };
}
