import type { ManifestDocument } from './document.js';
import type { ManifestKind } from './load.js';

export interface ManifestIdentity {
  readonly kind: ManifestKind;
  readonly name: string;
  readonly version: string;
  readonly sha256: string;
  /** Where it was found, if known. No document has it. */
  readonly file?: string | undefined;
}

export function identifyManifest(
  kind: ManifestKind,
  { name, version }: Pick<ManifestIdentity, 'name' | 'version'>,
  { sha256, file }: Pick<ManifestDocument, 'sha256'> & Partial<Pick<ManifestDocument, 'file'>>,
): ManifestIdentity {
  return { kind, name, version, sha256, file };
}
