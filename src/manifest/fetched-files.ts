import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import type { Checksum } from './model.js';

/** Folder beside manifests that holds the files that `models fetch` got for them. */
export const FETCHED_FOLDER = 'fetched';

/** The command that gets files; messages name it where one is missing. */
export const FETCH_COMMAND = 'mlmodelscope models fetch';

/** A file that a manifest names by its address. Nothing but `models fetch` gets it. */
export type Download = {
  /** http:// or https://, as the manifest has it. */
  readonly url: string;
  /** Where it is kept, seen from the manifest's folder. */
  readonly path: string;
  readonly checksum?: Checksum | undefined;
} & (
  | { readonly kind: 'graph' | 'weights' | 'labels' }
  /** The checksum is that of the archive or of the graph in it: manifests have both. */
  | { readonly kind: 'archive'; readonly folder: string; readonly graph: string }
);

const LONGEST_SEGMENT = 120;

function safeSegment(segment: string): string {
  const safe = segment.replace(/[^\w.+@=,%~-]/g, '_');
  if (safe.length <= LONGEST_SEGMENT) return safe;
  const digest = createHash('sha256').update(segment).digest('hex').slice(0, 16);
  return `${safe.slice(0, LONGEST_SEGMENT - digest.length - 1)}-${digest}`;
}

/** The address as a path of plain names, HOST/PATH, as `wget --force-directories` has it; undefined for no address. */
export function mirrorPath(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { host, pathname, search } = new URL(url);
  const segments = pathname.split('/').filter((segment) => segment !== '');
  const name = `${segments.pop() ?? 'index'}${search}`;
  return [host, ...segments, name].map(safeSegment).join('/');
}

/** Where the file of an address is kept, seen from the manifest's folder. */
export function fetchedPath(url: string): string | undefined {
  const path = mirrorPath(url);
  return path === undefined ? undefined : `${FETCHED_FOLDER}/${path}`;
}

/** A relative path within a folder or archive, without `.` and `..`; undefined where it leads out of it. */
export function pathWithin(path: string): string | undefined {
  if (path === '' || /^[/\\]|^[a-z]:|\\|\0/i.test(path)) return undefined;
  const normal = posix.normalize(path).replace(/\/$/, '');
  return normal === '.' || normal === '..' || normal.startsWith('../') ? undefined : normal;
}
