import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** What is kept for one user: others on the machine may neither read nor list it. */
export const OWNER_ONLY = 0o700;

/**
 * Makes a folder and those above it where they are missing, by default for everybody whom the umask lets in. Node's own recursive mkdir never returns where a file system
 * lets nobody make folders, as /proc does.
 *
 * @throws the file system's error
 */
export function makeFolder(path: string, mode = 0o777): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return;
  if (dirname(path) !== path) makeFolder(dirname(path), mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process may have been faster; a file in the way is an error.
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) throw error;
  }
}
