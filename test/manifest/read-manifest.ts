import { parseDocument } from '../../src/manifest/document.js';
import { interpretDocument, type ManifestKind, type ManifestOf } from '../../src/manifest/load.js';
import { formatProblem, type Loaded, orThrow, type Problems } from '../../src/manifest/problem.js';

/** Reads a manifest of this kind from its text, as if it were in a file `m.yml`. */
export function read<K extends ManifestKind>(kind: K, yaml: string): Loaded<ManifestOf<K>> | Problems {
  const document = parseDocument('m.yml', Buffer.from(yaml));
  return document.ok ? interpretDocument(document, [kind]) : document;
}

/** The problems of a manifest, one line each; none for a valid manifest. */
export function problemsOf(kind: ManifestKind, yaml: string): readonly string[] {
  const result = read(kind, yaml);
  return result.ok ? [] : result.problems.map(formatProblem);
}

/** Reads a valid manifest. */
export function manifestOf<K extends ManifestKind>(kind: K, yaml: string): ManifestOf<K> {
  return orThrow(read(kind, yaml)).manifest;
}
