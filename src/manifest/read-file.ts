import { type FileBytes, readRegularFile } from '../base/regular-file.js';

export const MAX_MANIFEST_BYTES = 1 << 20;

/** Reads a regular file of at most 1 MiB. */
export function readManifestBytes(path: string): Promise<FileBytes> {
  return readRegularFile(path, MAX_MANIFEST_BYTES);
}
