import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join, resolve } from 'node:path';
import envPaths from 'env-paths';
import { PlatformError } from '../base/errors.js';
import { openEmbeddedStore, openEmbeddedStoreToRead } from './embedded/open.js';
import { openMemoryStore } from './memory/open.js';
import type { ResultStore, StoreOptions } from './result-store.js';
import type { Transferred } from './transfer.js';

const ACCEPTED = 'a path, file:PATH, memory: or mongodb://HOST/DATABASE';

/** A scheme of one letter would be a Windows drive. */
const SCHEME = /^([a-z][a-z0-9+.-]+):/i;

/**
 * Opens the store that `uri` names, by default that of MLMODELSCOPE_STORE, or else {@link defaultStoreFolder}, which
 * counts as empty to read if it does not exist. No message repeats a URI: it may hold a password.
 * @throws PlatformError `usage` for a URI that names no store, `not_found`, `unavailable`, `storage`
 */
export async function openStore(uri: string | undefined, options: StoreOptions = {}): Promise<ResultStore> {
  const { folder, server } = findPlace(uri);
  if (server !== undefined) {
    // Loading the driver takes about a tenth of the time of a short command.
    const { openTeamStore } = await import('./spool/open.js');
    return openTeamStore(server, dataFolder(), options);
  }
  if (folder === undefined) return openMemoryStore();
  if (options.access !== 'read') return openEmbeddedStore(folder, options);
  const isEmpty = folder === defaultStoreFolder() && !existsSync(folder);
  return isEmpty ? openMemoryStore() : openEmbeddedStoreToRead(folder, options);
}

/** Sends the results that wait on this machine to the server. @throws as openStore; `usage` for a store without one */
export async function syncStore(uri: string | undefined, options: StoreOptions = {}): Promise<Transferred> {
  const { server } = findPlace(uri);
  if (server === undefined) {
    throw new PlatformError(
      'usage',
      'Nothing can wait for a store of this machine: name the store of a server, as in --store mongodb://HOST/DATABASE.',
    );
  }
  const { syncSpool } = await import('./spool/sync.js');
  return syncSpool(server, dataFolder(), options);
}

/** For display: without user and password. @throws as openStore for a URI that names no store */
export async function storeAddress(uri: string | undefined): Promise<string> {
  const { folder = 'memory:', server } = findPlace(uri);
  if (server === undefined) return folder;
  const { mongoAddress } = await import('./mongodb/address.js');
  return mongoAddress(server, {}).text;
}

/** Neither for a store in memory. */
interface Place {
  readonly folder?: string;
  /** Its URI. */
  readonly server?: string;
}

function findPlace(uri = process.env['MLMODELSCOPE_STORE'] || defaultStoreFolder()): Place {
  const scheme = SCHEME.exec(uri)?.[1]?.toLowerCase();
  switch (scheme) {
    case undefined:
      return { folder: folderOfPath(uri) };
    case 'file':
      return { folder: folderOfFileUri(uri) };
    case 'memory':
      if (uri.length > 'memory:'.length) throw wrongUri('memory: takes nothing after the colon');
      return {};
    case 'mongodb':
    case 'mongodb+srv':
      return { server: uri };
    default:
      throw wrongUri(uri.startsWith('//', scheme.length + 1) ? `no backend for ${scheme}://` : 'unknown scheme');
  }
}

export function defaultStoreFolder(): string {
  return join(dataFolder(), 'store');
}

function dataFolder(): string {
  return envPaths('mlmodelscope', { suffix: '' }).data;
}

function folderOfPath(path: string): string {
  if (path.trim() === '') throw wrongUri('it is empty');
  // A mistyped mongodb://user:password@host must not become a folder of that name.
  if (/\/\/[^/]*@/.test(path)) throw wrongUri('it looks like the URI of a server, but has no scheme');
  return resolve(path);
}

function folderOfFileUri(uri: string): string {
  const path = uri.slice('file:'.length);
  if (!path.startsWith('//')) return folderOfPath(path);
  try {
    return fileURLToPath(uri);
  } catch (cause) {
    throw wrongUri(
      'a file: URI with two slashes has to name a folder of this machine, as in file:///home/me/store',
      cause,
    );
  }
}

function wrongUri(why: string, cause?: unknown): PlatformError {
  return new PlatformError('usage', `The store cannot be opened: ${why}. Accepted: ${ACCEPTED}.`, { cause });
}
