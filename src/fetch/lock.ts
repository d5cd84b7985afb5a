import { dirname, join } from 'node:path';
import { writeFileAtomically } from '../base/atomic-file.js';
import { PlatformError } from '../base/errors.js';
import { type Lock, LOCK_FILE, lockText, manifestPinsIn, parseLock, type Pin } from '../manifest/lock-file.js';
import { readManifestBytes } from '../manifest/read-file.js';

export function lockPath(manifest: string): string {
  return join(dirname(manifest), LOCK_FILE);
}

/** @throws PlatformError `manifest` where the file is invalid */
export async function readLock(manifest: string): Promise<Lock> {
  const path = lockPath(manifest);
  const file = await readManifestBytes(path);
  if (!file.ok && file.found === 'no such file') return new Map();
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
  const known = await readLock(manifest);
  const changed = [...pins].some(([path, { sha256 }]) => known.get(path)?.sha256 !== sha256);
  if (changed) await write(manifest, new Map([...known, ...pins]), await manifestPins(manifest));
}

async function write(manifest: string, files: Lock, manifests: ReadonlyMap<string, string>): Promise<void> {
  await writeFileAtomically(lockPath(manifest), lockText(files, manifests));
}

async function manifestPins(manifest: string): Promise<ReadonlyMap<string, string>> {
  const file = await readManifestBytes(lockPath(manifest));
  return file.ok ? manifestPinsIn(file.bytes) : new Map();
}

/** Earlier pins stay. */
export async function pinManifests(evaluation: string, found: ReadonlyMap<string, string>): Promise<void> {
  const files = await readLock(evaluation);
  const known = await manifestPins(evaluation);
  if ([...found.keys()].some((reference) => !known.has(reference))) {
    await write(evaluation, files, new Map([...found, ...known]));
  }
}
