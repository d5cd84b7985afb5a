import { type NotAFile, openRegularFile } from '../base/regular-file.js';
import { readManifestBytes } from './read-file.js';

export interface ManifestFiles {
  /** At most 1 MiB. */
  read(path: string): Promise<{ readonly ok: true; readonly bytes: Uint8Array } | NotAFile>;
  /** What there is instead of a regular file, to follow the word `found`; undefined for a regular file. */
  missing(path: string): Promise<string | undefined>;
}

export const DISK: ManifestFiles = {
  read: readManifestBytes,

  async missing(path) {
    const opened = await openRegularFile(path);
    if (!opened.ok) return opened.found;
    await opened.file.close();
    return undefined;
  },
};
