import { relative, sep } from 'node:path';
import { MAX_IMAGE_BYTES } from '../../agent/predict/batches.js';
import { imagesBelow, MAX_ELEMENTS } from '../../agent/predict/dataset.js';
import { messageOf, PlatformError } from '../../base/errors.js';
import { isFolder } from '../../base/is-folder.js';
import { append } from '../../base/long-lists.js';
import { openRegularFile, readRegularFile } from '../../base/regular-file.js';
import type { Image } from '../../generated/mlmodelscope/org/dlframework/features.js';
import type { GivenInput } from './given-inputs.js';

async function readPicture(path: string, id: string): Promise<Image> {
  const read = await readRegularFile(path, MAX_IMAGE_BYTES);
  if (read.ok) return { id, data: read.bytes };
  throw new PlatformError('not_found', `expected a picture, found ${read.found}`);
}

async function picturesIn(folder: string): Promise<readonly string[]> {
  const found: string[] = [];
  try {
    for await (const path of imagesBelow(folder)) if (path !== '') found.push(path);
  } catch (cause) {
    throw new PlatformError('usage', `${folder} cannot be read: ${messageOf(cause)}`, { cause });
  }
  if (found.length > 0) return found;
  throw new PlatformError('usage', `${folder} has no pictures (.jpg, .png, .webp, .gif); name another folder`);
}

async function requireFile(path: string): Promise<void> {
  const opened = await openRegularFile(path);
  if (!opened.ok) throw new PlatformError('not_found', `${path}: expected a picture, found ${opened.found}`);
  await opened.file.close();
}

/**
 * Files, and the pictures below folders.
 *
 * @throws PlatformError `not_found` for a name that is no file, `usage` for a folder without any picture, or too many
 */
export async function pictureFiles(paths: readonly string[]): Promise<readonly GivenInput<Image>[]> {
  const files: string[] = [];
  for (const path of paths) {
    if (await isFolder(path)) append(files, await picturesIn(path));
    else {
      await requireFile(path);
      files.push(path);
    }
  }
  if (files.length > MAX_ELEMENTS) {
    throw new PlatformError('usage', `there are ${files.length} pictures; name at most ${MAX_ELEMENTS} at a time`);
  }
  return files.map((file) => {
    // A path below the working directory is relative, as people type it.
    const id = file.startsWith(process.cwd() + sep) ? relative(process.cwd(), file) : file;
    return { id, read: () => readPicture(file, id) };
  });
}
