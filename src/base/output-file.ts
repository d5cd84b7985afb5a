import { access, constants, lstat, open } from 'node:fs/promises';
import path from 'node:path';
import { writeFileAtomically } from './atomic-file.js';
import { codeOf, messageOf, PlatformError } from './errors.js';
import { type FileContent, writeContent } from './file-content.js';
import { isFolder } from './is-folder.js';
import { makeFolder } from './make-folder.js';

// A file is replaced as a whole, so that a reader never sees half of it.

/** Devices, pipes and links (such as /dev/stdout) are written through. */
async function isReplaced(file: string): Promise<boolean> {
  const existing = await lstat(file).catch(() => undefined);
  return existing === undefined || existing.isFile();
}

export async function writeOutput(file: string, content: FileContent): Promise<void> {
  if (await isReplaced(file)) {
    await writeFileAtomically(file, content);
    return;
  }
  const handle = await open(file, 'w');
  try {
    await writeContent(handle, content);
  } finally {
    await handle.close();
  }
}

const NO_ROOM: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

const FILE_IN_PATH: ReadonlySet<string> = new Set(['ENOTDIR', 'EEXIST']);

function unwritable(file: string, cause: unknown): PlatformError {
  const code = codeOf(cause);
  if (FILE_IN_PATH.has(code)) {
    return new PlatformError('usage', `${file} cannot be written: a part of that path is a file; name another file`);
  }
  const remedy = NO_ROOM.has(code) ? 'name another file, or make room' : 'name another file';
  return new PlatformError('storage', `${file} cannot be written: ${messageOf(cause)}; ${remedy}`, { cause });
}

/** @throws PlatformError `usage` where a part of the path is a file, else `storage`; and what the content throws */
export async function writeResult(file: string, content: FileContent): Promise<void> {
  await writeOutput(file, content).catch((error: unknown) => {
    throw error instanceof Error && 'syscall' in error ? unwritable(file, error) : error;
  });
}

/** @throws PlatformError `usage` for a place where no file can be, `storage` where it cannot be written */
export async function requireWritable(file: string): Promise<void> {
  if (file === '') throw new PlatformError('usage', 'the name of an output file is empty; name a file');
  if (file.endsWith(path.sep) || (await isFolder(file))) {
    throw new PlatformError('usage', `${file} is a folder; name a file`);
  }
  try {
    const replaced = await isReplaced(file);
    if (replaced) makeFolder(path.dirname(file));
    await access(replaced ? path.dirname(file) : file, constants.W_OK);
  } catch (error) {
    throw unwritable(file, error);
  }
}
