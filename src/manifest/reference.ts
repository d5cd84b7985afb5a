import { dirname, isAbsolute, join } from 'node:path';

export type ModelReference =
  | { readonly kind: 'manifest'; readonly path: string }
  | { readonly kind: 'onnx'; readonly path: string }
  | { readonly kind: 'zoo'; readonly name: string };

export const MODEL_REFERENCE = 'a model manifest (.yml), an ONNX file (.onnx) or zoo:NAME';

export const ZOO_PREFIX = 'zoo:';

const ZOO_NAME = /^[a-z0-9][a-z0-9._-]{0,99}$/;

export function isUrl(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
}

export function besideManifest(file: string, path: string): string {
  return isAbsolute(path) ? path : join(dirname(file), path);
}

export function parseZooName(text: string): string | undefined {
  const name = text.startsWith(ZOO_PREFIX) ? text.slice(ZOO_PREFIX.length) : '';
  return ZOO_NAME.test(name) ? name : undefined;
}

/** By the text's form alone. */
export function parseModelReference(text: string): ModelReference | undefined {
  const name = parseZooName(text);
  if (name !== undefined) return { kind: 'zoo', name };
  if (isUrl(text) || text.startsWith(ZOO_PREFIX)) return undefined;
  if (isManifestPath(text)) return { kind: 'manifest', path: text };
  return /\.onnx$/i.test(text) ? { kind: 'onnx', path: text } : undefined;
}

/** As in resnet18@1.0.0. */
export interface NamedReference {
  readonly name: string;
  readonly version: string;
}

const NAMED = /^([A-Za-z0-9][A-Za-z0-9._+-]{0,99})@(\d[\w.+-]{0,99})$/;

export function parseNamedReference(text: string): NamedReference | undefined {
  if (isManifestPath(text)) return undefined;
  const [, name, version] = NAMED.exec(text) ?? [];
  return name === undefined || version === undefined ? undefined : { name, version };
}

export function isManifestPath(text: string): boolean {
  return !isUrl(text) && /\.ya?ml$/i.test(text);
}
