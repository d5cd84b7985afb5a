import { constants, createReadStream } from 'node:fs';
import { access, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { cancellationOf } from '../base/cancellation.js';
import { type ErrorCode, messageOf, PlatformError } from '../base/errors.js';
import type { Download } from '../manifest/fetched-files.js';
import { mirrorPath } from '../manifest/fetched-files.js';
import { DISK } from '../manifest/files.js';
import type { ModelManifest } from '../manifest/model.js';
import type { Lock, Pin } from '../manifest/lock-file.js';
import { besideManifest } from '../manifest/reference.js';
import { type Digests, computeDigests, hasChecksum, requireExpected } from './digests.js';
import { download, type DownloadRules } from './download.js';
import { readLock, writePins } from './lock.js';
import { Part } from './part.js';
import { unpack } from './unpack.js';

export interface FetchRules extends DownloadRules {
  /** Files that need not be downloaded, as HOST/PATH of their addresses or by their names. */
  readonly mirror: string | undefined;
  /** For a file that the model can do without. */
  readonly onWarning: (message: string) => void;
}

/** In contrast to a file that is not the expected one or cannot be kept. */
const NOT_GOT: ReadonlySet<ErrorCode> = new Set(['usage', 'not_found', 'unavailable', 'unsupported', 'timeout']);

async function isFile(path: string): Promise<boolean> {
  return (await DISK.missing(path)) === undefined;
}

async function inMirror(url: string, { mirror }: FetchRules): Promise<string | undefined> {
  const path = mirrorPath(url);
  if (mirror === undefined || path === undefined) return undefined;
  for (const candidate of [join(mirror, path), join(mirror, basename(path))]) {
    if (await isFile(candidate)) return candidate;
  }
  return undefined;
}

async function copyInto(part: Part, file: string, { maxBytes, signal, onProgress }: FetchRules): Promise<void> {
  await part.restart(undefined);
  let bytes = 0;
  for await (const piece of createReadStream(file) as AsyncIterable<Buffer>) {
    if (signal.aborted) throw cancellationOf(signal);
    bytes += piece.length;
    if (bytes > maxBytes) throw new PlatformError('usage', `${file} is too large; --max-gib N allows more`);
    await part.content.appendFile(piece);
    onProgress(bytes, undefined);
  }
}

function pinOf(url: string, { sha256, bytes }: Digests): Pin {
  return { url, sha256, bytes };
}

async function getFile(file: Download, target: string, lock: Lock, rules: FetchRules): Promise<Digests> {
  // The checksum of an archive may be that of the graph in it.
  const expected = { checksum: file.kind === 'archive' ? undefined : file.checksum, pin: lock.files.get(file.path) };
  if (await isFile(target)) {
    const digests = await computeDigests(target, rules.signal);
    try {
      requireExpected(target, digests, expected);
    } catch (error) {
      throw new PlatformError('model', `${messageOf(error)}; remove ${target} to get it again`, { cause: error });
    }
    return digests;
  }
  const part = await Part.open(target);
  try {
    const mirrored = await inMirror(file.url, rules);
    if (mirrored === undefined) await download(file.url, part, rules);
    else await copyInto(part, mirrored, rules);
    const digests = await computeDigests(part.path, rules.signal);
    try {
      requireExpected(mirrored ?? file.url, digests, expected);
    } catch (error) {
      await part.drop();
      throw error;
    }
    await part.finish(target);
    return digests;
  } finally {
    await part.close();
  }
}

type Archive = Extract<Download, { kind: 'archive' }>;

/** @returns the digests of the graph in the archive */
async function fetchGraph(
  manifest: string,
  archive: Archive,
  packed: Digests,
  lock: Lock,
  rules: FetchRules,
): Promise<Digests> {
  const folder = besideManifest(manifest, archive.folder);
  const graph = join(folder, archive.graph);
  const isUnpacked = await access(folder, constants.F_OK).then(
    () => true,
    () => false,
  );
  if (!isUnpacked) await unpack(besideManifest(manifest, archive.path), folder, rules);
  try {
    if (!(await isFile(graph))) {
      const problem = isUnpacked
        ? `${folder} has no file ${archive.graph}; remove that folder to unpack the archive again`
        : `the archive has no file ${archive.graph}`;
      throw new PlatformError('model', `${archive.url}: ${problem}`);
    }
    const digests = await computeDigests(graph, rules.signal);
    const { checksum } = archive;
    const isOfArchive = checksum !== undefined && hasChecksum(packed, checksum);
    const pin = lock.files.get(`${archive.folder}/${archive.graph}`);
    requireExpected(`${archive.graph} of ${archive.url}`, digests, {
      checksum: isOfArchive ? undefined : checksum,
      pin,
    });
    return digests;
  } catch (error) {
    // A folder that was there before may have a user's own files.
    if (!isUnpacked) await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

/**
 * Gets the files that a manifest names by their addresses, and pins them in the lock file beside it.
 *
 * @throws PlatformError as {@link download} and {@link unpack}; `model` where a file is not the expected one;
 *   `manifest` where the lock file is invalid; `storage` where nothing can be written beside the manifest
 */
export async function fetchModel(
  manifest: string,
  { downloads = [] }: ModelManifest,
  rules: FetchRules,
): Promise<void> {
  for (const file of downloads) {
    const lock = await readLock(manifest);
    try {
      const digests = await getFile(file, besideManifest(manifest, file.path), lock, rules);
      const pins = new Map([[file.path, pinOf(file.url, digests)]]);
      if (file.kind === 'archive') {
        const graph = await fetchGraph(manifest, file, digests, lock, rules);
        pins.set(`${file.folder}/${file.graph}`, pinOf(file.url, graph));
      }
      await writePins(manifest, pins);
    } catch (error) {
      if (error instanceof PlatformError && file.kind === 'labels' && NOT_GOT.has(error.code)) {
        rules.onWarning(`${error.message}; without these labels, classes have only numbers`);
        continue;
      }
      if (error instanceof PlatformError) throw error;
      const problem = `files cannot be kept in ${dirname(manifest)}: ${messageOf(error)}`;
      throw new PlatformError('storage', `${problem}; copy the manifest to a folder that you may write to`, {
        cause: error,
      });
    }
  }
}
