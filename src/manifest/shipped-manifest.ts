import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Has the manifests that help and documentation name as manifests/…. */
const PACKAGE = new URL('../../../', import.meta.url);

/** A manifest of this package is found from every folder. */
export function shippedManifest(path: string): string {
  if (!/^manifests\/[\w./-]+\.ya?ml$/.test(path) || path.includes('..') || existsSync(path)) return path;
  const shipped = fileURLToPath(new URL(path, PACKAGE));
  return existsSync(shipped) ? shipped : path;
}
