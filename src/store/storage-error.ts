import { codeOf, messageOf, PlatformError } from '../base/errors.js';

const REMEDIES: ReadonlyMap<string, string> = new Map([
  ['EACCES', 'this user may not read or write there: change the permissions, or choose another place with --store'],
  ['EPERM', 'this user may not read or write there: change the permissions, or choose another place with --store'],
  ['EROFS', 'the file system is read-only: choose another place with --store'],
  ['ENOENT', 'that folder cannot be created: check the path, or choose another place with --store'],
  ['ENOSPC', 'the disk is full: free some space and run the same command again, it continues where it stopped'],
  ['EDQUOT', "this user's disk quota is used up: free some space and run the same command again"],
  ['EFBIG', 'the file would exceed the limit on file sizes: raise it (ulimit -f) and run the same command again'],
  ['EEXIST', 'a part of that path is a file: choose another place with --store'],
  ['ENOTDIR', 'a part of that path is a file: choose another place with --store'],
  ['EISDIR', 'a folder is where a file should be: choose another place with --store'],
  ['EMFILE', 'too many files are open: raise the limit (ulimit -n)'],
  ['EIO', 'the disk failed: copy what can be read to another one'],
]);

/** Something that the user gave is wrong, as for exports. */
const FILE_IN_PATH: ReadonlySet<string> = new Set(['EEXIST', 'ENOTDIR']);

/** `what` completes a sentence: "cannot be opened". A PlatformError, which already has advice, is passed on. */
export function storageError(address: string, what: string, thrown: unknown): PlatformError {
  if (thrown instanceof PlatformError) return thrown;
  const reason = REMEDIES.get(codeOf(thrown)) ?? messageOf(thrown);
  const code = FILE_IN_PATH.has(codeOf(thrown)) ? 'usage' : 'storage';
  return new PlatformError(code, `The store ${address} ${what}: ${reason}.`, { cause: thrown });
}

export function otherKeyError(address: string, collection: string): PlatformError {
  return new PlatformError(
    'storage',
    `The store ${address} keeps ${collection} by another key than this version of the program. Use the version that wrote ` +
      'it, or another store with --store.',
  );
}

export function newerError(address: string, found: number, known: number): PlatformError {
  return new PlatformError(
    'storage',
    `The store ${address} was written by a newer version of this program (schema ${found}; this version reads up to ` +
      `${known}). Update this program, or use another store with --store.`,
  );
}

export function unreadableMessage(address: string, problems: readonly string[]): string {
  return (
    `The store ${address} holds something that cannot be used and counts as missing; measuring again replaces it. ` +
    `The first of ${problems.length}: ${problems[0]}.`
  );
}

export function closedError(address: string): PlatformError {
  return new PlatformError('storage', `The store ${address} has been closed; open it again to use it.`);
}
