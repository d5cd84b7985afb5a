import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The folder of this package, which has the manifests that help and documentation name as manifests/…. */
const PACKAGE = new URL('../../../', import.meta.url);

/** The path of a manifest; one that comes with this package is found from every folder. */
export function shippedManifest(path: string): string {
  if (!/^manifests\/[\w./-]+\.ya?ml$/.test(path) || path.includes('..') || existsSync(path)) return path;
  const shipped = fileURLToPath(new URL(path, PACKAGE));
  return existsSync(shipped) ? shipped : path;
}
