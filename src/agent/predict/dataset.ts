import { readdir, realpath } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { messageOf, PlatformError } from '../../base/errors.js';
import { isInside } from '../../base/is-inside.js';
import { quoted, quotedUpTo } from '../../base/quoted.js';
import { readRegularFile } from '../../base/regular-file.js';

export const SYNTHETIC = 'synthetic';

export const MAX_ELEMENTS = 10_000;

export interface DatasetLimits {
  readonly pictures: number;
  readonly files: number;
}

const LIMITS: DatasetLimits = { pictures: MAX_ELEMENTS, files: 100_000 };

const MAX_DEPTH = 8;

const IMAGE_FILE = /\.(jpe?g|png|webp|gif)$/i;

/** A name without special meaning to the file system: no leading dots, no separators. */
const SEGMENT = /^[\p{L}\p{N}][\p{L}\p{N}._ -]{0,254}$/u;

export interface DatasetFile {
  readonly id: string;
  readonly path: string;
}

async function resolveRealPath(path: string, what: string): Promise<string> {
  return realpath(path).catch((cause: unknown) => {
    throw new PlatformError('not_found', `this agent has no ${what}`, { cause });
  });
}

/** Does not follow links to folders. Yields '' for each other entry, so that callers can count all entries. */
export async function* imagesBelow(folder: string, depth = 0): AsyncGenerator<string> {
  const entries = await readdir(folder, { withFileTypes: true });
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && depth < MAX_DEPTH) yield* imagesBelow(path, depth + 1);
    else if (IMAGE_FILE.test(entry.name)) yield path;
    else yield '';
  }
}

/**
 * The pictures in the folder `category/name` within `root`, in the order of their names.
 *
 * @throws PlatformError `not_found` where there is none, `usage` where a name or a link in it leads elsewhere
 */
export async function datasetFiles(
  root: string | undefined,
  category: string,
  name: string,
  limits = LIMITS,
): Promise<readonly DatasetFile[]> {
  const what = `dataset ${quotedUpTo(`${category}/${name}`, 200)}`;
  if (root === undefined) {
    const advice = `start it with --datasets DIR, or ask for the category "${SYNTHETIC}"`;
    throw new PlatformError('not_found', `this agent has no ${what}, nor any other in files; ${advice}`);
  }
  const segments = [category, name].flatMap((path) => path.split('/')).filter((segment) => segment !== '');
  if (segments.length === 0 || !segments.every((segment) => SEGMENT.test(segment))) {
    throw new PlatformError('usage', `${what}: category and name are the names of folders`);
  }
  const base = await resolveRealPath(root, `folder of datasets at ${root}`);
  const folder = await resolveRealPath(join(base, ...segments), what);
  const leadsOut = (path: string): PlatformError => new PlatformError('usage', `${what}: ${path} leads out of it`);
  if (!isInside(base, folder)) throw leadsOut('a link');
  const hasMoreThan = (most: string): PlatformError =>
    new PlatformError('usage', `${what} has more than ${most}; ask for a part of it`);
  const files: DatasetFile[] = [];
  let entries = 0;
  try {
    for await (const path of imagesBelow(folder)) {
      if (++entries > limits.files) throw hasMoreThan(`${limits.files} files`);
      if (path === '') continue;
      if (files.length >= limits.pictures) throw hasMoreThan(`${limits.pictures} pictures`);
      const id = relative(folder, path).replaceAll(sep, '/');
      const real = await realpath(path);
      if (!isInside(base, real)) throw leadsOut(id);
      files.push({ id, path: real });
    }
  } catch (cause) {
    if (cause instanceof PlatformError) throw cause;
    throw new PlatformError('not_found', `${what} cannot be read: ${messageOf(cause)}`, { cause });
  }
  if (files.length === 0) throw new PlatformError('not_found', `${what} has no pictures (.jpg, .png, .webp, .gif)`);
  return files;
}

/** @throws PlatformError `not_found` where there is no such file (any more), `usage` where it is too large */
export async function readDatasetFile({ id, path }: DatasetFile, maxBytes: number): Promise<Buffer> {
  const file = await readRegularFile(path, maxBytes);
  if (file.ok) return file.bytes;
  if (file.isTooLarge) throw new PlatformError('usage', `${id} of the dataset has more than ${maxBytes} bytes`);
  throw new PlatformError('not_found', `${id} of the dataset: found ${file.found}`);
}

/** The number that is the dataset's name, or the size of one batch if it has none. @throws PlatformError `usage` */
export function syntheticCount(name: string, batchSize: number): number {
  if (name === '') return batchSize;
  const count = /^\d{1,5}$/.test(name) ? Number(name) : 0;
  if (count >= 1 && count <= MAX_ELEMENTS) return count;
  const message = `a synthetic dataset is named by the number of its elements, from 1 to ${MAX_ELEMENTS}`;
  throw new PlatformError('usage', `${message}; found ${quoted(name)}`);
}
