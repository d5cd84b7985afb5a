import { randomUUID } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** Names the machine, because a container may share the folder with others that number their processes likewise. */
const PREFIX = `mlmodelscope-${hostname().replace(/[^a-zA-Z0-9.]/g, '_')}-`;

/** Absolute path of a new folder of this process; nothing is made there. */
export function temporaryFolderPath(): string {
  return resolve(tmpdir(), `${PREFIX}${process.pid}-${randomUUID()}`);
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
  const names = await readdir(tmpdir()).catch(() => []);
  const stale = names.filter((name) => {
    const pid = name.startsWith(PREFIX) ? /^(\d+)-/.exec(name.slice(PREFIX.length))?.[1] : undefined;
    return pid !== undefined && !isRunning(Number(pid));
  });
  // Another user's are not ours to remove.
  await Promise.all(stale.map((name) => rm(join(tmpdir(), name), { recursive: true, force: true }).catch(() => {})));
}
