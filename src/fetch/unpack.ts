import { createReadStream } from 'node:fs';
import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { once } from 'node:events';
import { Parser, type ReadEntry } from 'tar';
import yauzl from 'yauzl';
import { HOST } from '../base/atomic-file.js';
import { throwIfCancelled } from '../base/cancellation.js';
import { codeOf, messageOf, PlatformError } from '../base/errors.js';
import { quoted } from '../base/quoted.js';
import { pathWithin } from '../manifest/fetched-files.js';

/** Those of models have some dozens. */
const MAX_ENTRIES = 10_000;

/** Weights hardly compress; texts do by a factor of ten. */
const MAX_RATIO = 200;

/** Archives of any ratio may unpack to this much. */
const ALWAYS_ALLOWED_BYTES = 16 * 2 ** 20;

export interface UnpackLimits {
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

interface Member {
  readonly name: string;
  readonly kind: 'file' | 'folder' | 'other';
  readonly content: () => Promise<AsyncIterable<Uint8Array>> | AsyncIterable<Uint8Array>;
}

function refused(file: string, problem: string): PlatformError {
  return new PlatformError('model', `${file} is not unpacked: ${problem}; get its files yourself and name their paths`);
}

/** No paths out of the folder, no links, no file twice. */
class SafeFolder {
  #entries = 0;
  #bytes = 0;
  readonly #mostBytes: number;

  constructor(
    private readonly archive: string,
    private readonly folder: string,
    archiveBytes: number,
    private readonly limits: UnpackLimits,
  ) {
    this.#mostBytes = Math.min(limits.maxBytes, Math.max(ALWAYS_ALLOWED_BYTES, MAX_RATIO * archiveBytes));
  }

  async add({ name, kind, content }: Member): Promise<void> {
    throwIfCancelled(this.limits.signal);
    if (++this.#entries > MAX_ENTRIES) throw refused(this.archive, `it has more than ${MAX_ENTRIES} entries`);
    if (kind === 'folder') return;
    if (kind === 'other') throw refused(this.archive, `${quoted(name)} in it is a link or device`);
    const path = pathWithin(name);
    if (path === undefined) throw refused(this.archive, `${quoted(name)} in it leads out of it`);
    const target = join(this.folder, path);
    try {
      await mkdir(dirname(target), { recursive: true });
      const file = await open(target, 'wx');
      try {
        for await (const piece of await content()) {
          throwIfCancelled(this.limits.signal);
          this.#bytes += piece.length;
          if (this.#bytes > this.#mostBytes) {
            throw refused(this.archive, `it unpacks to more than ${this.#mostBytes} bytes`);
          }
          await file.appendFile(piece);
        }
      } finally {
        await file.close();
      }
    } catch (error) {
      const code = codeOf(error);
      if (code === 'EEXIST' || code === 'ENOTDIR') throw refused(this.archive, `${quoted(name)} in it is there twice`);
      if (code === 'ENAMETOOLONG') throw refused(this.archive, `the name ${quoted(name)} in it is too long`);
      throw error;
    }
  }
}

type AddMember = (member: Member) => Promise<void>;

function kindOfTar({ type }: ReadEntry): Member['kind'] {
  if (type === 'Directory' || type === 'GNUDumpDir') return 'folder';
  return type === 'File' || type === 'OldFile' || type === 'ContiguousFile' ? 'file' : 'other';
}

async function readTar(archive: string, add: AddMember): Promise<void> {
  let adding = Promise.resolve();
  let failure: Error | undefined;
  const fail = (error: unknown): void => {
    failure ??= error instanceof Error ? error : new Error(messageOf(error));
  };
  let current: ReadEntry | undefined;
  const parser = new Parser({
    strict: true,
    maxDecompressionRatio: MAX_RATIO * 5,
    onReadEntry: (entry) => {
      const member = { name: entry.path, kind: kindOfTar(entry), content: () => entry };
      entry.on('error', fail);
      // The parser waits until an entry has been read.
      adding = adding
        .then(() => {
          current = entry;
          return failure === undefined ? add(member) : undefined;
        })
        .catch(fail)
        .finally(() => entry.resume());
    },
  });
  parser.on('error', (error: unknown) => {
    fail(error);
    // In a damaged archive, the end of the entry never comes.
    current?.destroy(error);
  });
  const ended = once(parser, 'end').catch(fail);
  const source = createReadStream(archive);
  for await (const piece of source as AsyncIterable<Buffer>) {
    if (failure !== undefined) break;
    if (!parser.write(piece) && failure === undefined) {
      await Promise.race([once(parser, 'drain').catch(fail), ended]);
    }
  }
  source.destroy();
  if (failure === undefined) {
    parser.end();
    await ended;
  }
  await adding;
  if (failure !== undefined) throw failure;
}

const FILE_TYPE = 0o170000;
const REGULAR = 0o100000;

function kindOfZip({ fileName, externalFileAttributes }: yauzl.Entry): Member['kind'] {
  if (fileName.endsWith('/')) return 'folder';
  // The upper half is the mode on systems that have one.
  const type = (externalFileAttributes >>> 16) & FILE_TYPE;
  return type === 0 || type === REGULAR ? 'file' : 'other';
}

async function readZip(archive: string, add: AddMember): Promise<void> {
  const zip = await yauzl.openPromise(archive);
  try {
    for await (const entry of zip.eachEntry()) {
      const content = (): Promise<AsyncIterable<Uint8Array>> => zip.openReadStreamPromise(entry);
      await add({ name: entry.fileName, kind: kindOfZip(entry), content });
    }
  } finally {
    zip.close();
  }
}

const ZIP = Buffer.from('PK');

async function isZip(archive: string): Promise<boolean> {
  const file = await open(archive);
  try {
    const { buffer } = await file.read(Buffer.alloc(ZIP.length), 0, ZIP.length, 0);
    return buffer.equals(ZIP);
  } finally {
    await file.close();
  }
}

/**
 * Unpacks a tar, tar.gz or zip archive into a new folder: whole or not at all.
 *
 * @throws PlatformError `model` where it is no archive, or has links, paths out of it, or more than the limits allow;
 *   `storage` where its files cannot be written
 */
export async function unpack(archive: string, folder: string, limits: UnpackLimits): Promise<void> {
  const temporary = join(dirname(folder), `.${basename(folder)}.${HOST}.${process.pid}.unpacking`);
  await rm(temporary, { recursive: true, force: true });
  try {
    await mkdir(temporary);
    const safe = new SafeFolder(archive, temporary, (await stat(archive)).size, limits);
    const add: AddMember = (member) => safe.add(member);
    await ((await isZip(archive)) ? readZip(archive, add) : readTar(archive, add));
    await rename(temporary, folder);
  } catch (error) {
    if (error instanceof PlatformError) throw error;
    if (error instanceof Error && 'syscall' in error) {
      const problem = `${archive} cannot be unpacked: ${messageOf(error)}`;
      const remedy = 'make room, or copy the manifest to a folder that you may write to';
      throw new PlatformError('storage', `${problem}; ${remedy}`, { cause: error });
    }
    throw refused(archive, `it cannot be read as tar, tar.gz or zip (${messageOf(error)})`);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}
