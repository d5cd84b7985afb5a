import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { isRunning } from '../../base/process-life.js';
import { inMemory } from '../../predictor/memory-folder.js';

/** Names the machine, because containers with equal process ids may share the folder. */
const PREFIX = `mlmodelscope-${hostname().replace(/[^a-zA-Z0-9.]/g, '_')}-`;

export function temporaryFolderPath(): string {
  return resolve(tmpdir(), `${PREFIX}${process.pid}-${randomUUID()}`);
}

export function removeTemporaryFolders(temporaryFolder: string): void {
  for (const folder of [temporaryFolder, inMemory(temporaryFolder)]) rmSync(folder, { recursive: true, force: true });
}

export async function removeStaleFolders(): Promise<void> {
  const own = temporaryFolderPath();
  for (const parent of [dirname(own), dirname(inMemory(own))]) {
    const names = await readdir(parent).catch(() => []);
    const stale = names.filter((name) => {
      const pid = name.startsWith(PREFIX) ? /^(\d+)-/.exec(name.slice(PREFIX.length))?.[1] : undefined;
      return pid !== undefined && !isRunning(Number(pid));
    });
    // Folders of other users cannot be removed.
    await Promise.all(stale.map((name) => rm(join(parent, name), { recursive: true, force: true }).catch(() => {})));
  }
}
