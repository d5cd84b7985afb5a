import { type NotAFile, openRegularFile, readManifestBytes } from './read-file.js';

/** Where manifests are, and what they refer to. */
export interface ManifestFiles {
  /** Reads a regular file of at most 1 MiB. */
  read(path: string): Promise<{ readonly ok: true; readonly bytes: Uint8Array } | NotAFile>;
  /** What is there instead of a regular file, worded to follow the word `found`; undefined where there is one. */
  missing(path: string): Promise<string | undefined>;
}

/** The files of this machine, as its user may read them. */
export const DISK: ManifestFiles = {
  read: readManifestBytes,

  async missing(path) {
    const opened = await openRegularFile(path);
    if (!opened.ok) return opened.found;
    await opened.file.close();
    return undefined;
  },
};
