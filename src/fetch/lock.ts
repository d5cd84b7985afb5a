import { dirname, join } from 'node:path';
import { writeFileAtomically } from '../base/atomic-file.js';
import { PlatformError } from '../base/errors.js';
import { EMPTY_LOCK, type Lock, LOCK_FILE, lockText, parseLock, type Pin } from '../manifest/lock-file.js';
import { readManifestBytes } from '../manifest/read-file.js';

export function lockPath(manifest: string): string {
  return join(dirname(manifest), LOCK_FILE);
}

/** @throws PlatformError `manifest` where the file is invalid */
export async function readLock(manifest: string): Promise<Lock> {
  const path = lockPath(manifest);
  const file = await readManifestBytes(path);
  if (!file.ok && file.found === 'no such file') return EMPTY_LOCK;
  const lock = file.ok ? parseLock(file.bytes) : undefined;
  if (lock !== undefined) return lock;
  const found = file.ok ? 'something else' : file.found;
  throw new PlatformError(
    'manifest',
    `${path}: expected the lock file of \`models fetch\`, found ${found}; correct it, or remove it to pin files anew`,
  );
}

/**
 * Keeps other pins. Those that another process writes at the same moment may be lost; its next fetch pins them again.
 */
export async function writePins(manifest: string, pins: ReadonlyMap<string, Pin>): Promise<void> {
  const lock = await readLock(manifest);
  const changed = [...pins].some(([path, { sha256 }]) => lock.files.get(path)?.sha256 !== sha256);
  if (changed) await writeLock(manifest, { ...lock, files: new Map([...lock.files, ...pins]) });
}

async function writeLock(manifest: string, lock: Lock): Promise<void> {
  await writeFileAtomically(lockPath(manifest), lockText(lock));
}

/** Earlier pins stay. */
export async function pinManifests(evaluation: string, found: ReadonlyMap<string, string>): Promise<void> {
  const lock = await readLock(evaluation);
  if ([...found.keys()].some((reference) => !lock.manifests.has(reference))) {
    await writeLock(evaluation, { ...lock, manifests: new Map([...found, ...lock.manifests]) });
  }
}
