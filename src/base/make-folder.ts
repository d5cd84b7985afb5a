import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Others on the machine may neither read nor list the folder. */
export const OWNER_ONLY = 0o700;

/**
 * Makes missing parents too. Node's recursive mkdir never returns on a file system without new folders, such as /proc.
 *
 * @throws the file system's error
 */
export function makeFolder(path: string, mode = 0o777): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return;
  if (dirname(path) !== path) makeFolder(dirname(path), mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process may have made the folder first. A file with this name is an error.
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) throw error;
  }
}
