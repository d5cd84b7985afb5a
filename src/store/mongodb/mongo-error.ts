import {
  MongoAPIError,
  MongoBulkWriteError,
  MongoCompatibilityError,
  MongoCursorExhaustedError,
  MongoError,
  MongoNetworkError,
  MongoServerError,
  MongoServerSelectionError,
  MongoTopologyClosedError,
} from 'mongodb';
import { codeOf, messageOf, PlatformError } from '../../base/errors.js';

/** Numbers of MongoDB's errors (mongo, src/mongo/base/error_codes.yml). */
const UNAUTHORIZED = 13;
const AUTHENTICATION_FAILED = 18;
const INVALID_NAMESPACE = 73;
const DOCUMENT_VALIDATION_FAILURE = 121;
const OUT_OF_DISK_SPACE = 14031;
export const DUPLICATE_KEY = 11000;

/** Errors of a server that stops, starts or changes its role; the driver's specification retries on the same. */
const PASSING = new Set([6, 7, 64, 89, 91, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436]);

/** Messages of a server that is shutting down, for errors without a code. */
const SHUTTING_DOWN = /context canceled|database is closed|interrupted at shutdown|shutting down/i;

/** Codes of a lost connection, which Node throws and the driver passes on when it is lost during a write. */
const LOST = new Set(['ECONNABORTED', 'ECONNRESET', 'EPIPE', 'ERR_STREAM_DESTROYED', 'ETIMEDOUT']);

const DISK_FULL = /no space left|disk is full|disk full|out of disk space/i;

export function isPassing(thrown: unknown): boolean {
  if (isClosed(thrown)) return false;
  if (thrown instanceof MongoBulkWriteError && typeof thrown.code !== 'number') return true; // A wrapped network error.
  if (thrown instanceof MongoServerSelectionError)
    return authenticationFailure(thrown) === undefined && !isTooOld(thrown);
  if (thrown instanceof MongoNetworkError) return true;
  if (!(thrown instanceof MongoError)) return LOST.has(codeOf(thrown));
  return (
    thrown.hasErrorLabel('RetryableWriteError') ||
    PASSING.has(Number(thrown.code)) ||
    (thrown instanceof MongoServerError && SHUTTING_DOWN.test(thrown.message))
  );
}

/** A client that is closed ends its cursors. */
export function isClosed(thrown: unknown): boolean {
  return (
    thrown instanceof MongoTopologyClosedError ||
    thrown instanceof MongoCursorExhaustedError ||
    (thrown instanceof MongoAPIError && /closed/i.test(thrown.message))
  );
}

/** `what` completes a sentence: "cannot be read". A PlatformError, which already has advice, is passed on. */
export function mongoError(address: string, what: string, thrown: unknown): PlatformError {
  if (thrown instanceof PlatformError) return thrown;
  return new PlatformError('storage', `The store ${address} ${what}: ${describeReason(thrown)}.`, { cause: thrown });
}

export function unreachable(address: string, thrown: unknown): PlatformError {
  const said = messageOf(thrown).replace(/\.$/, '');
  const reason = /certificate/.test(said)
    ? `its server is not trusted (${said}). Its certificate has to be valid, name this host, and be from an authority ` +
      'that tlsCAFile=FILE in the URI names.'
    : `no server answers there (${said}). Check the address and that the server runs, or use another store with --store.`;
  return new PlatformError('unavailable', `The store ${address} cannot be opened: ${reason}`, { cause: thrown });
}

function describeReason(thrown: unknown): string {
  if (authenticationFailure(thrown) !== undefined) {
    return 'the server does not accept the user or the password of its URI: correct them, or name the database that the user belongs to with ?authSource=NAME';
  }
  if (isTooOld(thrown)) return 'the server is too old, MongoDB 4.4 or newer is needed: update it, or use another store';
  const code = thrown instanceof MongoError ? Number(thrown.code) : undefined;
  const remedy = code === undefined ? undefined : REMEDIES.get(code);
  if (remedy !== undefined) return remedy;
  const message = messageOf(thrown);
  return DISK_FULL.test(message) ? FULL : message.replace(/\.$/, '');
}

const FULL =
  "the server's disk is full: free some space there and run the same command again, it continues where it stopped";

const REMEDIES: ReadonlyMap<number, string> = new Map([
  [
    UNAUTHORIZED,
    'the user of its URI may not do that in this database: check the name of the database, or have the role readWrite granted on it',
  ],
  [INVALID_NAMESPACE, 'the server does not take a database of that name: choose another one'],
  [
    DOCUMENT_VALIDATION_FAILURE,
    "the server's validator refuses the document: use the version of this program that wrote the store, or update the other one",
  ],
  [OUT_OF_DISK_SPACE, FULL],
]);

function authenticationFailure(thrown: unknown): unknown {
  for (const error of listCauses(thrown)) {
    if (error instanceof MongoServerError && Number(error.code) === AUTHENTICATION_FAILED) return error;
    if (error instanceof Error && /authentication failed/i.test(error.message)) return error;
  }
  return undefined;
}

function isTooOld(thrown: unknown): boolean {
  return listCauses(thrown).some(
    (error) =>
      error instanceof MongoCompatibilityError ||
      (error instanceof Error && /maximum wire version/.test(error.message)),
  );
}

function listCauses(thrown: unknown): readonly unknown[] {
  const chain: unknown[] = [];
  for (let error = thrown; error !== undefined && chain.length < 8;) {
    chain.push(error);
    error = error instanceof Error ? error.cause : undefined;
  }
  return chain;
}
