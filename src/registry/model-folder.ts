import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import pMap from 'p-map';
import { messageOf, PlatformError } from '../base/errors.js';
import type { Problem } from '../manifest/index.js';
import { formatProblem } from '../manifest/index.js';
import { isManifestPath } from '../manifest/reference.js';

const MAX_MANIFESTS = 10_000;

/** Manifests that are read at the same time. */
const AT_ONCE = 16;

/**
 * The results of `read` for the manifests of a folder, in the order of their names. Subfolders are not searched, and
 * only the first {@link MAX_MANIFESTS} manifests are read.
 *
 * @throws PlatformError `usage` where the folder cannot be read
 */
export async function readFolder<T>(folder: string, read: (path: string) => Promise<T>): Promise<readonly T[]> {
  const entries = await readdir(folder).catch((cause: unknown) => {
    throw new PlatformError('usage', `the folder of model manifests cannot be read: ${messageOf(cause)}`, { cause });
  });
  const paths = entries.filter(isManifestPath).sort().slice(0, MAX_MANIFESTS);
  return pMap(paths, (file) => read(join(folder, file)), { concurrency: AT_ONCE });
}

/** The problems of one manifest as one line. */
export function problemsLine(problems: readonly Problem[]): string {
  const [first, ...others] = problems;
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  return first === undefined ? '' : formatProblem(first) + more;
}
