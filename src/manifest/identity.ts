import type { ManifestDocument } from './document.js';
import type { ManifestKind } from './load.js';

/** Which manifest something is of. */
export interface ManifestIdentity {
  readonly kind: ManifestKind;
  readonly name: string;
  readonly version: string;
  /** Of its file. */
  readonly sha256: string;
}

export function identityOf(
  kind: ManifestKind,
  { name, version }: Pick<ManifestIdentity, 'name' | 'version'>,
  { sha256 }: Pick<ManifestDocument, 'sha256'>,
): ManifestIdentity {
  return { kind, name, version, sha256 };
}
