import { stat } from 'node:fs/promises';
import path from 'node:path';
import { PlatformError } from '../base/errors.js';
import { encodeModel } from '../onnx/write/write-model.js';
import { writeFileAtomically } from '../base/atomic-file.js';
import { makeFolder, OWNER_ONLY } from '../base/make-folder.js';
import { defaultCacheDir } from './cache-folder.js';
import { buildZooModel, ZOO_VERSION } from './zoo.js';

export interface EnsureOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((bytes: number, total: number) => void) | undefined;
  /** By default MLMODELSCOPE_CACHE, else the user's. */
  readonly cacheDir?: string | undefined;
}

/**
 * `<cache>/zoo/v<ZOO_VERSION>/<name>.onnx`; written if it is missing or has the wrong length. Any number of processes
 * may ask at the same time; no half-written file is ever visible under that name.
 *
 * @throws PlatformError `not_found`, `storage` if the file cannot be written, `cancelled` when `signal` aborts
 */
export async function ensureZooModel(name: string, options: EnsureOptions = {}): Promise<string> {
  const { signal, onProgress } = options;
  const { byteLength, chunks } = encodeModel(buildZooModel(name));
  const folder = path.join(options.cacheDir ?? defaultCacheDir(), 'zoo', `v${ZOO_VERSION}`);
  const file = path.join(folder, `${name}.onnx`);
  if (await isComplete(file, byteLength)) return file;
  try {
    makeFolder(folder, OWNER_ONLY);
    await writeFileAtomically(file, chunks, { signal, onProgress: (bytes) => onProgress?.(bytes, byteLength) });
  } catch (thrown) {
    // Another process may have written the file meanwhile and have it open. Some systems cannot replace an open file.
    if (!(await isComplete(file, byteLength))) throw cacheError(name, folder, byteLength, thrown);
  }
  return file;
}

async function isComplete(file: string, byteLength: number): Promise<boolean> {
  const found = await stat(file).catch(() => undefined);
  return found?.isFile() === true && found.size === byteLength;
}

const REMEDIES: ReadonlyMap<string, string> = new Map([
  ['EACCES', 'this user may not write there'],
  ['EDQUOT', "this user's disk quota is used up"],
  ['EEXIST', 'a part of that path is a file'],
  ['EFBIG', 'the file would exceed the limit on file sizes (ulimit -f)'],
  ['EISDIR', 'a folder is where the file should be'],
  ['ENOSPC', 'the disk is full'],
  ['ENOTDIR', 'a part of that path is a file'],
  ['EPERM', 'this user may not write there'],
  ['EROFS', 'the file system is read-only'],
]);

function cacheError(name: string, folder: string, byteLength: number, thrown: unknown): unknown {
  if (!(thrown instanceof Error) || !('code' in thrown) || thrown instanceof PlatformError) return thrown;
  const reason = REMEDIES.get(String(thrown.code)) ?? thrown.message;
  const megabytes = Math.ceil(byteLength / 1e6);
  return new PlatformError(
    'storage',
    `zoo:${name} (${megabytes} MB) cannot be written to ${folder}: ${reason}. Make room there, or name another folder ` +
      'in the environment variable MLMODELSCOPE_CACHE.',
    { cause: thrown },
  );
}
