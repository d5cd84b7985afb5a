import { type ManifestDocument, parseDocument } from './document.js';
import { DISK } from './files.js';
import { interpretDocument, type ManifestKind, type ManifestOf, statedKind, takenBy } from './load.js';
import type { Loaded, Problem, Problems } from './problem.js';
import { quoted } from '../base/quoted.js';

export type ReportReference = (expected: string, found: string) => Problem;

export interface Referred<K extends ManifestKind> {
  readonly ok: true;
  readonly document: ManifestDocument;
  readonly loaded: Loaded<ManifestOf<K>> | Problems;
}

/** A missing file, or one of another kind, is a problem of the reference. A problem inside the file is placed there. */
export async function loadReferred<K extends ManifestKind>(
  path: string,
  kind: K,
  report: ReportReference,
  files = DISK,
): Promise<Referred<K> | Problems> {
  const expected = `a ${kind} manifest`;
  const file = await files.read(path);
  if (!file.ok) return { ok: false, problems: [report(expected, `${file.found} at ${quoted(path)}`)] };
  const document = parseDocument(path, file.bytes);
  if (!document.ok) return document;
  const stated = statedKind(document);
  if (stated !== undefined && stated !== kind) {
    return { ok: false, problems: [report(expected, `one of kind ${stated} at ${quoted(path)}${takenBy(stated)}`)] };
  }
  return { ok: true, document, loaded: interpretDocument(document, [kind]) };
}
