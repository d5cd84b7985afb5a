import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { PlatformError } from '../../base/errors.js';

/** Offsets in a meta page of liblmdb's data format 2: MDB_page's header, then MDB_meta (liblmdb, mdb.c). */
const PAGE_FLAGS = 18;
const MAGIC = 24;
const VERSION = 28;
const PAGE_SIZE = 48;
const LAST_PAGE = 144;
const TRANSACTION = 152;
const META_BYTES = 168;

const META_PAGE_FLAG = 0x08;
const LMDB_MAGIC = 0xbeefc0de;
const LMDB_DATA_VERSION = 2;

/**
 * Opens the file of LMDB's pages, creating an empty one. Refuses other content and a truncated file (PlatformError
 * `storage`), on which the binding crashes the process.
 */
export function openDataFile(path: string): number {
  const file = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
  try {
    readExtent(file, path);
  } catch (thrown) {
    closeSync(file);
    throw thrown;
  }
  return file;
}

export function readExtent(file: number, path: string) {
  if (!fstatSync(file).isFile()) throw damaged(path, 'it is not a file');
  const first = Buffer.alloc(META_BYTES);
  const bytesRead = readSync(file, first, 0, META_BYTES, 0);
  if (bytesRead === 0) return { transaction: 0n, pageBytes: 4096, usedBytes: 0 };
  const pageBytes = first.readUInt32LE(PAGE_SIZE);
  if (
    bytesRead < META_BYTES ||
    (first.readUInt16LE(PAGE_FLAGS) & META_PAGE_FLAG) === 0 ||
    first.readUInt32LE(MAGIC) !== LMDB_MAGIC ||
    (first.readUInt32LE(VERSION) & 0xffff) !== LMDB_DATA_VERSION ||
    pageBytes < 512 ||
    pageBytes > 65_536 ||
    (pageBytes & (pageBytes - 1)) !== 0
  ) {
    throw damaged(path, 'its beginning is wrong');
  }
  const second = Buffer.alloc(META_BYTES);
  if (readSync(file, second, 0, META_BYTES, pageBytes) < META_BYTES) throw damaged(path, 'it was cut off');
  const newer = second.readBigUInt64LE(TRANSACTION) > first.readBigUInt64LE(TRANSACTION) ? second : first;
  const usedBytes = (Number(newer.readBigUInt64LE(LAST_PAGE)) + 1) * pageBytes;
  // Measured after the meta page was read: a writer extends the file first and writes the meta page afterwards.
  const fileBytes = fstatSync(file).size;
  if (fileBytes < usedBytes) throw damaged(path, `it was cut off: ${usedBytes - fileBytes} bytes are missing`);
  return { transaction: newer.readBigUInt64LE(TRANSACTION), pageBytes, usedBytes };
}

function damaged(path: string, why: string): PlatformError {
  return new PlatformError(
    'storage',
    `${path} is not a data file of a store, or it is damaged: ${why}. Put back a copy of the store's folder, or move it away ` +
      'and measure again; nothing in it was changed.',
  );
}
