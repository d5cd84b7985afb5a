import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { inMemory } from '../../predictor/memory-folder.js';

/** Names the machine, because a container may share the folder with others that number their processes likewise. */
const PREFIX = `mlmodelscope-${hostname().replace(/[^a-zA-Z0-9.]/g, '_')}-`;

/** Absolute path of a new folder of this process; nothing is made there. */
export function temporaryFolderPath(): string {
  return resolve(tmpdir(), `${PREFIX}${process.pid}-${randomUUID()}`);
}

/** Where a worker puts what it optimizes. */
export function optimizedFolderOf(temporaryFolder: string): string {
  return join(temporaryFolder, 'optimized');
}

/** Where a worker's runtime puts its profile. */
export function profileFolderOf(temporaryFolder: string): string {
  return join(temporaryFolder, 'profile');
}

/** Removes everything that a worker may have left in its temporary folders. */
export function removeTemporaryFolders(temporaryFolder: string): void {
  for (const folder of [temporaryFolder, inMemory(temporaryFolder)]) rmSync(folder, { recursive: true, force: true });
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Removes the folders of processes that ended without doing so: where they and their children were killed at once. */
export async function removeStaleFolders(): Promise<void> {
  const own = temporaryFolderPath();
  for (const parent of [dirname(own), dirname(inMemory(own))]) {
    const names = await readdir(parent).catch(() => []);
    const stale = names.filter((name) => {
      const pid = name.startsWith(PREFIX) ? /^(\d+)-/.exec(name.slice(PREFIX.length))?.[1] : undefined;
      return pid !== undefined && !isRunning(Number(pid));
    });
    // Another user's are not ours to remove.
    await Promise.all(stale.map((name) => rm(join(parent, name), { recursive: true, force: true }).catch(() => {})));
  }
}
