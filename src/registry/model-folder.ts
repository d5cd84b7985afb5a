import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import pMap from 'p-map';
import { messageOf, PlatformError } from '../base/errors.js';
import { type Problem, formatProblem } from '../manifest/problem.js';
import { isManifestPath } from '../manifest/reference.js';

const MAX_MANIFESTS = 10_000;

const AT_ONCE = 16;

/** Does not search subfolders. @throws PlatformError `usage` where the folder cannot be read */
export async function readFolder<T>(folder: string, read: (path: string) => Promise<T>) {
  const entries = await readdir(folder).catch((cause: unknown) => {
    throw new PlatformError('usage', `the folder of model manifests cannot be read: ${messageOf(cause)}`, { cause });
  });
  const manifests = entries.filter(isManifestPath).sort();
  const first = manifests.slice(0, MAX_MANIFESTS);
  const notRead =
    manifests.length === first.length
      ? undefined
      : `${folder} has ${manifests.length} manifests; only the first ${MAX_MANIFESTS} by name are read`;
  return { read: await pMap(first, (file) => read(join(folder, file)), { concurrency: AT_ONCE }), notRead };
}

export function problemsLine(problems: readonly Problem[]): string {
  const [first, ...others] = problems;
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  return first === undefined ? '' : formatProblem(first) + more;
}
