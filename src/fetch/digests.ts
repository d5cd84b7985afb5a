import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { throwIfCancelled } from '../base/cancellation.js';
import { PlatformError } from '../base/errors.js';
import type { Checksum } from '../manifest/model.js';
import type { Pin } from '../manifest/lock-file.js';

export type Digests = Awaited<ReturnType<typeof computeDigests>>;

export async function computeDigests(path: string, signal: AbortSignal) {
  const sha256 = createHash('sha256');
  const md5 = createHash('md5');
  let bytes = 0;
  for await (const piece of createReadStream(path) as AsyncIterable<Buffer>) {
    throwIfCancelled(signal);
    sha256.update(piece);
    md5.update(piece);
    bytes += piece.length;
  }
  return { sha256: sha256.digest('hex'), md5: md5.digest('hex'), bytes };
}

export function hasChecksum(digests: Digests, { algorithm, digest }: Checksum): boolean {
  return digests[algorithm] === digest;
}

export interface Expected {
  readonly checksum: Checksum | undefined;
  readonly pin: Pin | undefined;
}

/** @throws PlatformError `model` where digests differ from those in the manifest or the lock file */
export function requireExpected(from: string, digests: Digests, { checksum, pin }: Expected): void {
  if (checksum !== undefined && !hasChecksum(digests, checksum)) {
    const { algorithm, digest } = checksum;
    throw new PlatformError(
      'model',
      `${from} is not the file of the manifest: expected ${algorithm} ${digest}, found ${digests[algorithm]}; nothing ` +
        'of it is kept; get the right file with --mirror DIR or, if this one is right, correct the manifest',
    );
  }
  if (pin === undefined || pin.sha256 === digests.sha256) return;
  throw new PlatformError(
    'model',
    `${from} is not the file that was fetched first: expected sha256 ${pin.sha256}, found ${digests.sha256}; nothing ` +
      "of it is kept; if this one is right, remove the file's entry from the lock file",
  );
}
