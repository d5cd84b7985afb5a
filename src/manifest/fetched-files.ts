import { posix } from 'node:path';
import { sha256Of } from '../base/sha256.js';
import type { Checksum } from './model.js';

export const FETCHED_FOLDER = 'fetched';

export const FETCH_COMMAND = 'mlmodelscope models fetch';

export type Download = {
  readonly url: string;
  /** Relative to the manifest's folder. */
  readonly path: string;
  readonly checksum?: Checksum | undefined;
} & (
  | { readonly kind: 'graph' | 'weights' | 'labels' }
  /** The checksum is of the archive or of the graph in it: manifests have both kinds. */
  | { readonly kind: 'archive'; readonly folder: string; readonly graph: string }
);

const MAX_SEGMENT_LENGTH = 120;

function safeSegment(segment: string): string {
  const safe = segment.replace(/[^\w.+@=,%~-]/g, '_');
  if (safe.length <= MAX_SEGMENT_LENGTH) return safe;
  const digest = sha256Of(segment).slice(0, 16);
  return `${safe.slice(0, MAX_SEGMENT_LENGTH - digest.length - 1)}-${digest}`;
}

/** HOST/PATH of plain names, like `wget --force-directories`; undefined where it is not a URL. */
export function mirrorPath(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { host, pathname, search } = new URL(url);
  const segments = pathname.split('/').filter((segment) => segment !== '');
  const name = `${segments.pop() ?? 'index'}${search}`;
  return [host, ...segments, name].map(safeSegment).join('/');
}

/** Relative to the manifest's folder. An address that is no URL has a path as well; fetching it says what is wrong. */
export function fetchedPath(address: string): string {
  return `${FETCHED_FOLDER}/${mirrorPath(address) ?? safeSegment(address)}`;
}

/** Without `.` and `..`; undefined where the path leads out of the folder or archive. */
export function pathWithin(path: string): string | undefined {
  if (path === '' || /^[/\\]|^[a-z]:|\\|\0/i.test(path)) return undefined;
  const normal = posix.normalize(path).replace(/\/$/, '');
  return normal === '.' || normal === '..' || normal.startsWith('../') ? undefined : normal;
}
