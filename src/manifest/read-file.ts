import { type FileBytes, readRegularFile } from '../base/regular-file.js';

export const MAX_MANIFEST_BYTES = 1 << 20;

export function readManifestBytes(path: string): Promise<FileBytes> {
  return readRegularFile(path, MAX_MANIFEST_BYTES);
}
