import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { messageOf, PlatformError } from '../base/errors.js';
import { openRegularFile } from '../base/regular-file.js';
import type { Checksum } from './model.js';

/** Reads the file as a stream. @throws PlatformError `model` where it differs or can't be read, `cancelled` */
export async function verifyChecksum(path: string, checksum: Checksum, signal?: AbortSignal): Promise<void> {
  requireDigest(path, checksum, await computeDigest(path, checksum.algorithm, signal));
}

/** In hexadecimal digits. @throws PlatformError as {@link verifyChecksum} */
export async function computeDigest(
  path: string,
  algorithm: Checksum['algorithm'],
  signal: AbortSignal = new AbortController().signal,
): Promise<string> {
  const opened = await openRegularFile(path);
  if (!opened.ok) throw new PlatformError('model', `${path}: expected a model file, found ${opened.found}`);
  const hash = createHash(algorithm);
  try {
    await pipeline(opened.file.createReadStream(), hash, { signal });
  } catch (thrown) {
    if (signal.aborted) throw new PlatformError('cancelled', `checking ${path} was cancelled`, { cause: thrown });
    throw new PlatformError('model', `${path} can't be read: ${messageOf(thrown)}`, { cause: thrown });
  }
  return hash.digest('hex');
}

/** @throws PlatformError `model` */
export function verifyContent(path: string, checksum: Checksum, content: Uint8Array): void {
  requireDigest(path, checksum, createHash(checksum.algorithm).update(content).digest('hex'));
}

function requireDigest(path: string, checksum: Checksum, found: string): void {
  if (found === checksum.digest) return;
  throw new PlatformError(
    'model',
    `${path} is not the file of its manifest: expected ${checksum.algorithm} ${checksum.digest}, found ` +
      `${found}; get the right file or, if this one is right, put its checksum into the manifest`,
  );
}
