import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { codeOf, messageOf } from './errors.js';

/** `found` follows the word "found". */
export interface NotAFile {
  readonly ok: false;
  readonly found: string;
  /** It is a file with more bytes than the reader takes. */
  readonly isTooLarge?: boolean;
}

export type FileBytes = { readonly ok: true; readonly bytes: Buffer } | NotAFile;

export interface OpenFile {
  readonly ok: true;
  readonly file: FileHandle;
  readonly byteLength: number;
}

const BY_ERROR_CODE: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'no such file'],
  ['ENOTDIR', 'no such file'],
  ['EACCES', 'a file that this user may not read'],
  ['EPERM', 'a file that this user may not read'],
  ['ELOOP', 'a symbolic link that leads to itself'],
  ['ENXIO', 'a socket or pipe'],
  ['ENAMETOOLONG', 'a path that is too long'],
]);

function failure(thrown: unknown): NotAFile {
  return { ok: false, found: BY_ERROR_CODE.get(codeOf(thrown)) ?? `an unreadable file (${messageOf(thrown)})` };
}

/** Never waits for a pipe's writer. The caller closes it. */
export async function openRegularFile(path: string): Promise<OpenFile | NotAFile> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = await file.stat();
    if (stats.isFile()) return { ok: true, file, byteLength: stats.size };
    await file.close();
    return { ok: false, found: stats.isDirectory() ? 'a folder' : 'a device or pipe' };
  } catch (thrown) {
    await file?.close();
    return failure(thrown);
  }
}

const BLOCK_BYTES = 2 ** 20;

async function readAtMost(file: FileHandle, limit: number): Promise<Buffer> {
  const blocks: Buffer[] = [];
  for (let length = 0; length < limit;) {
    const block = Buffer.alloc(Math.min(BLOCK_BYTES, limit - length));
    const { bytesRead } = await file.read(block, 0, block.length, null);
    if (bytesRead === 0) break;
    blocks.push(block.subarray(0, bytesRead));
    length += bytesRead;
  }
  return Buffer.concat(blocks);
}

/** The size that the file system reports is not trusted. */
export async function readRegularFile(path: string, mostBytes: number): Promise<FileBytes> {
  const opened = await openRegularFile(path);
  if (!opened.ok) return opened;
  const { file, byteLength } = opened;
  try {
    const bytes = byteLength > mostBytes ? undefined : await readAtMost(file, mostBytes + 1);
    if (bytes !== undefined && bytes.length <= mostBytes) return { ok: true, bytes };
    const size = bytes === undefined ? `${byteLength} bytes` : 'more bytes';
    return { ok: false, found: `a file of ${size} (at most ${mostBytes})`, isTooLarge: true };
  } catch (thrown) {
    return failure(thrown);
  } finally {
    await file.close();
  }
}
